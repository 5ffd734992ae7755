/**
 * The part of zod that schemas of stored documents use, for the server: hundreds of them are built in every process, and
 * zod takes thirty times as long to build one. The bundler puts this in its place. A test compares both on documents
 * that are right, changed and wrong. Only the first problem of a value is found.
 */

class Issue {
  readonly code: string;
  readonly message: string;
  readonly path: (string | number)[];

  constructor(code: string, message: string, { path = [], ...facts }: IssueFacts = {}) {
    this.code = code;
    this.message = message;
    this.path = [...path];
    Object.assign(this, facts);
  }

  /** The issue as one of the value around it. */
  at(key: string | number): this {
    this.path.unshift(key);
    return this;
  }
}

type IssueFacts = { readonly path?: readonly (string | number)[]; readonly note?: string };

/** Returns what a value is read as, or what is wrong with it. */
type Take = (value: unknown) => unknown;
type Kind = 'string' | 'number' | 'array' | undefined;
type Refinement = { readonly error?: string; readonly path?: readonly string[] };
type Read =
  | { readonly success: true; readonly data: unknown; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly Issue[] } };

const UNITS = { string: ' characters', array: ' items', number: '' };

class Schema {
  /** Of a literal or an enum: what it accepts. */
  values: readonly unknown[] | undefined;
  /** Of an object: its fields. */
  fields: Fields | undefined;
  /** Of a union: its members. */
  options: readonly Schema[] | undefined;
  /** Whether a field may be missing, though not be `undefined`. */
  isMissable = false;
  readonly take: Take;
  readonly kind: Kind;

  constructor(take: Take, kind: Kind = undefined) {
    this.take = take;
    this.kind = kind;
  }

  safeParse(value: unknown): Read {
    const data = this.take(value);
    return data instanceof Issue ? { success: false, error: { issues: [data] } } : { success: true, data };
  }

  parse(value: unknown): unknown {
    const data = this.take(value);
    if (data instanceof Issue) throw new Error(`${data.path.join('.')}: ${data.message}`);
    return data;
  }

  optional(): Schema {
    return this.same((value) => (value === undefined ? undefined : this.take(value)));
  }

  exactOptional(): Schema {
    const made = this.same(this.take);
    made.isMissable = true;
    return made;
  }

  nullable(): Schema {
    return new Schema((value) => (value === null ? null : this.take(value)));
  }

  brand(): this {
    return this;
  }

  refine(isRight: (value: never) => unknown, { error = 'Invalid input', path = [] }: Refinement = {}): Schema {
    return this.and((value) => (isRight(value as never) ? undefined : new Issue('custom', error, { path })));
  }

  regex(pattern: RegExp, { error }: { readonly error?: string } = {}): Schema {
    return this.and((value) => {
      pattern.lastIndex = 0;
      if (pattern.test(value as string)) return undefined;
      return new Issue('invalid_format', error ?? `Invalid string: must match pattern ${pattern}`);
    });
  }

  min(least: number): Schema {
    return this.and((value) =>
      sizeOf(value) >= least ? undefined : new Issue('too_small', this.sizeText('Too small', `>=${least}`)),
    );
  }

  max(most: number): Schema {
    return this.and((value) =>
      sizeOf(value) <= most ? undefined : new Issue('too_big', this.sizeText('Too big', `<=${most}`)),
    );
  }

  private sizeText(wrong: string, bound: string): string {
    const kind = this.kind ?? 'number';
    return `${wrong}: expected ${kind} to ${kind === 'number' ? 'be' : 'have'} ${bound}${UNITS[kind]}`;
  }

  private and(problem: (value: unknown) => Issue | undefined): Schema {
    return this.same((value) => {
      const taken = this.take(value);
      return taken instanceof Issue ? taken : (problem(taken) ?? taken);
    });
  }

  private same(take: Take): Schema {
    const made = new Schema(take, this.kind);
    made.values = this.values;
    made.fields = this.fields;
    made.options = this.options;
    return made;
  }
}

function sizeOf(value: unknown): number {
  return typeof value === 'number' ? value : (value as string | readonly unknown[]).length;
}

function wrongType(expected: string, value: unknown): Issue {
  const found = value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isNaN(value) ? 'NaN' : typeof value;
  return new Issue('invalid_type', `Invalid input: expected ${expected}, received ${found}`);
}

function isObject(value: unknown): value is AnyObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function string(): Schema {
  return new Schema((value) => (typeof value === 'string' ? value : wrongType('string', value)), 'string');
}

export function int(): Schema {
  return new Schema((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return wrongType('number', value);
    if (!Number.isInteger(value)) return wrongType('int', value);
    if (Number.isSafeInteger(value)) return value;
    const bound = value > 0 ? `<=${Number.MAX_SAFE_INTEGER}` : `>=${Number.MIN_SAFE_INTEGER}`;
    return new Issue(
      value > 0 ? 'too_big' : 'too_small',
      `Too ${value > 0 ? 'big' : 'small'}: expected int to be ${bound}`,
    );
  }, 'number');
}

export function boolean(): Schema {
  return new Schema((value) => (typeof value === 'boolean' ? value : wrongType('boolean', value)));
}

export function unknown(): Schema {
  return new Schema((value) => value);
}

export function never(): Schema {
  return new Schema((value) => wrongType('never', value));
}

export function custom(isRight: (value: unknown) => boolean, { error }: { readonly error: string }): Schema {
  return new Schema((value) => (isRight(value) ? value : new Issue('custom', error)));
}

export function lazy(make: () => Schema): Schema {
  return new Schema((value) => make().take(value));
}

function oneOf(values: readonly unknown[]): Schema {
  const shown = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value))).join('|');
  const message = values.length === 1 ? `Invalid input: expected ${shown}` : `Invalid option: expected one of ${shown}`;
  const made = new Schema((value) => (values.includes(value) ? value : new Issue('invalid_value', message)));
  made.values = values;
  return made;
}

export function literal(value: unknown): Schema {
  return oneOf([value]);
}

function enumOf(values: readonly string[]): Schema {
  return oneOf(values);
}

export { enumOf as enum };

export function templateLiteral([before, rest]: readonly [string, Schema]): Schema {
  return new Schema((value) => {
    if (typeof value !== 'string') return wrongType('string', value);
    const isRight = value.startsWith(before) && !(rest.take(value.slice(before.length)) instanceof Issue);
    return isRight ? value : new Issue('invalid_format', 'Invalid input');
  });
}

export function array(item: Schema): Schema {
  return new Schema((value) => {
    if (!Array.isArray(value)) return wrongType('array', value);
    const taken: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const one = item.take(value[i]);
      if (one instanceof Issue) return one.at(i);
      taken.push(one);
    }
    return taken;
  }, 'array');
}

export function record(key: Schema, item: Schema): Schema {
  return new Schema((value) => {
    if (!isObject(value)) return wrongType('record', value);
    const taken: { [key: string]: unknown } = {};
    for (const name of Object.keys(value)) {
      if (name === '__proto__') continue;
      const wrongKey = key.take(name);
      if (wrongKey instanceof Issue) return new Issue('invalid_key', 'Invalid key in record', { path: [name] });
      const one = item.take(value[name]);
      if (one instanceof Issue) return one.at(name);
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
    return new Issue('unrecognized_keys', `Unrecognized key${unknownKeys.length > 1 ? 's' : ''}: ${shown}`);
  });
}

type AnyObject = { readonly [key: string]: unknown };
type OtherFields = (value: AnyObject, taken: { [key: string]: unknown }) => Issue | undefined;

function objectOf(fields: Fields, takeOthers: OtherFields): Schema {
  const names = Object.keys(fields);
  const made = new Schema((value) => {
    if (!isObject(value)) return wrongType('object', value);
    const taken: { [name: string]: unknown } = {};
    for (const name of names) {
      const field = fields[name] as Schema;
      if (field.isMissable && !(name in value)) continue;
      const one = field.take(value[name]);
      if (one instanceof Issue) return one.at(name);
      if (one !== undefined || name in value) taken[name] = one;
    }
    return takeOthers(value, taken) ?? taken;
  });
  made.fields = fields;
  return made;
}

export function union(options: readonly Schema[]): Schema {
  const made = new Schema((value) => {
    for (const option of options) {
      const taken = option.take(value);
      if (!(taken instanceof Issue)) return taken;
    }
    return new Issue('invalid_union', 'Invalid input');
  });
  made.options = options;
  return made;
}

export function discriminatedUnion(name: string, options: readonly Schema[]): Schema {
  let byValue: Map<unknown, Schema> | undefined;
  const made = new Schema((value) => {
    if (!isObject(value)) return wrongType('object', value);
    byValue ??= new Map(options.flatMap((option) => valuesOf(option, name).map((one) => [one, option] as const)));
    const option = byValue.get(value[name]);
    if (option !== undefined) return option.take(value);
    const expected = [...byValue.keys()].map((one) => `'${one}'`).join(' | ');
    const message = `Invalid discriminator value. Expected ${expected}`;
    return new Issue('invalid_union', message, { path: [name], note: 'No matching discriminator' });
  });
  made.options = options;
  return made;
}

function valuesOf({ fields, options = [] }: Schema, name: string): readonly unknown[] {
  return fields?.[name]?.values ?? options.flatMap((option) => valuesOf(option, name));
}
