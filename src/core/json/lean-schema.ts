import { assert } from '../assert.ts';

/**
 * The part of zod that schemas of stored documents use, for the server: hundreds of them are built in every process, and
 * zod takes thirty times as long to build one. The bundler puts this in its place. A test compares both on documents
 * that are right, changed and wrong. Only the first problem of a value is found.
 */

const ISSUE = Symbol('issue');

type Issue = {
  readonly [ISSUE]: true;
  readonly code: string;
  readonly message: string;
  readonly path: (string | number)[];
  readonly note?: string;
  /** The value has the right type, and only a check on it failed. */
  readonly isOfCheck: boolean;
};

type IssueFacts = {
  readonly path?: readonly (string | number)[];
  readonly note?: string;
  readonly isOfCheck?: boolean;
};

function issue(code: string, message: string, { path = [], isOfCheck = false, ...facts }: IssueFacts = {}): Issue {
  return { [ISSUE]: true, code, message, path: [...path], isOfCheck, ...facts };
}

function isIssue(taken: unknown): taken is Issue {
  return typeof taken === 'object' && taken !== null && ISSUE in taken;
}

/** The issue as one of the value around it. */
function inside(key: string | number, found: Issue): Issue {
  found.path.unshift(key);
  return found;
}

/** Returns what a value is read as, or what is wrong with it. */
type Take = (value: unknown) => unknown;
type Kind = 'string' | 'number' | 'array' | undefined;
type Refinement = { readonly error?: string; readonly path?: readonly string[] };
type Read =
  | { readonly success: true; readonly data: unknown; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly Issue[] } };

type Facts = {
  readonly kind?: Kind;
  /** Of a literal or an enum: what it accepts. */
  readonly values?: readonly unknown[] | undefined;
  /** Of an object: its fields. */
  readonly fields?: Fields | undefined;
  /** Of a union: its members. */
  readonly options?: readonly Schema[] | undefined;
  /** Whether a field may be missing, though not be `undefined`. */
  readonly isMissable?: boolean;
};

type Schema = Facts & {
  readonly take: Take;
  safeParse(value: unknown): Read;
  parse(value: unknown): unknown;
  optional(): Schema;
  exactOptional(): Schema;
  nullable(): Schema;
  brand(): Schema;
  describe(words: string): Schema;
  refine(isRight: (value: never) => unknown, how?: Refinement): Schema;
  regex(pattern: RegExp, how?: Pick<Refinement, 'error'>): Schema;
  min(least: number): Schema;
  max(most: number): Schema;
};

/** One object for all schemas: functions of their own would take most of the time to build one. */
function schema(take: Take, facts: Facts = {}): Schema {
  return Object.assign(Object.create(METHODS), facts, { take });
}

const UNITS = { string: ' characters', array: ' items', number: '' };

const METHODS: Omit<Schema, 'take' | keyof Facts> & ThisType<Schema> = {
  safeParse(value: unknown): Read {
    const data = this.take(value);
    return isIssue(data) ? { success: false, error: { issues: [data] } } : { success: true, data };
  },
  parse(value: unknown): unknown {
    const data = this.take(value);
    assert(!isIssue(data), isIssue(data) ? `${data.path.join('.')}: ${data.message}` : '');
    return data;
  },
  optional(): Schema {
    return schema((value) => (value === undefined ? undefined : this.take(value)), factsOf(this));
  },
  exactOptional(): Schema {
    return schema(this.take, { ...factsOf(this), isMissable: true });
  },
  nullable(): Schema {
    return schema((value) => (value === null ? null : this.take(value)));
  },
  brand(): Schema {
    return this;
  },
  describe(): Schema {
    return this;
  },
  refine(isRight: (value: never) => unknown, how: Refinement = {}): Schema {
    const { error = 'Invalid input', path = [] } = how;
    return checked(this, (value) => (isRight(value as never) ? undefined : ['custom', error, path]));
  },
  regex(pattern, { error } = {}): Schema {
    return checked(this, (value) =>
      pattern.test(value as string)
        ? undefined
        : ['invalid_format', error ?? `Invalid string: must match pattern ${pattern}`],
    );
  },
  min(least: number): Schema {
    const message = sizeText(this, 'Too small', `>=${least}`);
    return checked(this, (value) => (sizeOf(value) >= least ? undefined : ['too_small', message]));
  },
  max(most: number): Schema {
    const message = sizeText(this, 'Too big', `<=${most}`);
    return checked(this, (value) => (sizeOf(value) <= most ? undefined : ['too_big', message]));
  },
};

function factsOf({ kind, values, fields, options }: Schema): Facts {
  return { kind, values, fields, options };
}

type Problem = readonly [code: string, message: string, path?: readonly string[]];

function checked(base: Schema, problemOf: (value: unknown) => Problem | undefined): Schema {
  return schema((value) => {
    const taken = base.take(value);
    if (isIssue(taken)) return taken;
    const problem = problemOf(taken);
    if (problem === undefined) return taken;
    const [code, message, path = []] = problem;
    return issue(code, message, { path, isOfCheck: true });
  }, factsOf(base));
}

function sizeText({ kind = 'number' }: Schema, wrong: string, bound: string): string {
  return `${wrong}: expected ${kind} to ${kind === 'number' ? 'be' : 'have'} ${bound}${UNITS[kind]}`;
}

function sizeOf(value: unknown): number {
  return typeof value === 'number' ? value : (value as string | readonly unknown[]).length;
}

function wrongType(expected: string, value: unknown): Issue {
  const found = value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isNaN(value) ? 'NaN' : typeof value;
  return issue('invalid_type', `Invalid input: expected ${expected}, received ${found}`);
}

function isObject(value: unknown): value is AnyObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function string(): Schema {
  return schema((value) => (typeof value === 'string' ? value : wrongType('string', value)), { kind: 'string' });
}

export function int(): Schema {
  return schema(
    (value) => {
      if (typeof value !== 'number' || !Number.isFinite(value)) return wrongType('number', value);
      if (!Number.isInteger(value)) return wrongType('int', value);
      if (Number.isSafeInteger(value)) return value;
      const bound = value > 0 ? `<=${Number.MAX_SAFE_INTEGER}` : `>=${Number.MIN_SAFE_INTEGER}`;
      return issue(
        value > 0 ? 'too_big' : 'too_small',
        `Too ${value > 0 ? 'big' : 'small'}: expected int to be ${bound}`,
      );
    },
    { kind: 'number' },
  );
}

export function boolean(): Schema {
  return schema((value) => (typeof value === 'boolean' ? value : wrongType('boolean', value)));
}

export function unknown(): Schema {
  return schema((value) => value);
}

export function never(): Schema {
  return schema((value) => wrongType('never', value));
}

export function custom(isRight: (value: unknown) => boolean, { error }: { readonly error: string }): Schema {
  return schema((value) => (isRight(value) ? value : issue('custom', error)));
}

export function lazy(make: () => Schema): Schema {
  return schema((value) => make().take(value));
}

function oneOf(values: readonly unknown[]): Schema {
  const shown = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value))).join('|');
  const message = values.length === 1 ? `Invalid input: expected ${shown}` : `Invalid option: expected one of ${shown}`;
  return schema((value) => (values.includes(value) ? value : issue('invalid_value', message)), { values });
}

export function literal(value: unknown): Schema {
  return oneOf([value]);
}

function enumOf(values: readonly string[]): Schema {
  return oneOf(values);
}

export { enumOf as enum };

export function templateLiteral([before, rest]: readonly [string, Schema]): Schema {
  return schema((value) => {
    if (typeof value !== 'string') return wrongType('string', value);
    const isRight = value.startsWith(before) && !isIssue(rest.take(value.slice(before.length)));
    return isRight ? value : issue('invalid_format', 'Invalid input');
  });
}

export function array(item: Schema): Schema {
  return schema(
    (value) => {
      if (!Array.isArray(value)) return wrongType('array', value);
      const taken: unknown[] = [];
      for (let i = 0; i < value.length; i++) {
        const one = item.take(value[i]);
        if (isIssue(one)) return inside(i, one);
        taken.push(one);
      }
      return taken;
    },
    { kind: 'array' },
  );
}

export function record(key: Schema, item: Schema): Schema {
  return schema((value) => {
    if (!isObject(value)) return wrongType('record', value);
    const taken: { [key: string]: unknown } = {};
    for (const name of Object.keys(value)) {
      if (name === '__proto__') continue;
      const wrongKey = key.take(name);
      if (isIssue(wrongKey)) return issue('invalid_key', 'Invalid key in record', { path: [name] });
      const one = item.take(value[name]);
      if (isIssue(one)) return inside(name, one);
      taken[name] = one;
    }
    return taken;
  });
}

type Fields = { readonly [name: string]: Schema };

export function object(fields: Fields): Schema {
  return objectOf(fields, () => undefined);
}

/** Keeps fields that the schema does not name. */
export function looseObject(fields: Fields): Schema {
  return objectOf(fields, (value, taken) => {
    for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key)) taken[key] = value[key];
    return undefined;
  });
}

export function strictObject(fields: Fields): Schema {
  return objectOf(fields, (value) => {
    const unknownKeys = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
    if (unknownKeys.length === 0) return undefined;
    const shown = unknownKeys.map((key) => `"${key}"`).join(', ');
    return issue('unrecognized_keys', `Unrecognized key${unknownKeys.length > 1 ? 's' : ''}: ${shown}`);
  });
}

type AnyObject = { readonly [key: string]: unknown };
type OtherFields = (value: AnyObject, taken: { [key: string]: unknown }) => Issue | undefined;

function objectOf(fields: Fields, takeOthers: OtherFields): Schema {
  const names = Object.keys(fields);
  const take = (value: unknown) => {
    if (!isObject(value)) return wrongType('object', value);
    const taken: { [name: string]: unknown } = {};
    for (const name of names) {
      const field = fields[name] as Schema;
      if (field.isMissable && !(name in value)) continue;
      const one = field.take(value[name]);
      if (isIssue(one)) return inside(name, one);
      if (one !== undefined || name in value) taken[name] = one;
    }
    return takeOthers(value, taken) ?? taken;
  };
  return schema(take, { fields });
}

export function union(options: readonly Schema[]): Schema {
  const take = (value: unknown) => {
    const near: Issue[] = [];
    for (const option of options) {
      const taken = option.take(value);
      if (!isIssue(taken)) return taken;
      if (taken.isOfCheck) near.push(taken);
    }
    // If only one member has the right types, its problem is the one to report.
    return near.length === 1 ? near[0] : issue('invalid_union', 'Invalid input');
  };
  return schema(take, { options });
}

export function discriminatedUnion(name: string, options: readonly Schema[]): Schema {
  let byValue: Map<unknown, Schema> | undefined;
  const take = (value: unknown) => {
    if (!isObject(value)) return wrongType('object', value);
    byValue ??= new Map(options.flatMap((option) => valuesOf(option, name).map((one) => [one, option] as const)));
    const option = byValue.get(value[name]);
    if (option !== undefined) return option.take(value);
    const expected = [...byValue.keys()].map((one) => `'${one}'`).join(' | ');
    const message = `Invalid discriminator value. Expected ${expected}`;
    return issue('invalid_union', message, { path: [name], note: 'No matching discriminator' });
  };
  return schema(take, { options });
}

function valuesOf({ fields, options = [] }: Schema, name: string): readonly unknown[] {
  return fields?.[name]?.values ?? options.flatMap((option) => valuesOf(option, name));
}
