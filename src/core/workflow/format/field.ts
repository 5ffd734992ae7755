import type { JsonValue } from '../../json/json-value.ts';
import type { DiagnosticCode } from '../diagnostics/diagnostic.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { LIST_MAX, type TextForm } from './limits.ts';
import type { Reader, ReadProblem } from './reader.ts';

/**
 * What a text is for, which decides what is filled in. `{{wr.bindings.…}}` and the arguments of a routine are filled in
 * while compiling; values of context only when a prompt is shown.
 */
export type TextUse =
  /** Part of a prompt or a title: values of context are filled in when it is shown. */
  | 'prompt'
  /** The same for a command, which may have braces of its own. */
  | 'command'
  /** Read by the agent as written: a value of context in it would stay as it is. */
  | 'text'
  /** A name or a word that is not read as a sentence. */
  | 'label'
  /** Passed on to be read; it may be empty. */
  | 'argument'
  /** Compared or passed on as it is: braces in it may mean themselves, and it may be empty. */
  | 'value'
  /** Looked for as it is: braces in it may mean themselves. */
  | 'phrase'
  /** The name of a context value, or a pattern: nothing is filled in. */
  | 'name'
  /** Not part of any run. */
  | 'never';

/** What a name is the name of, which decides where it may be referred to. */
export type NameRole = 'step' | 'loop' | 'condition' | 'assessment' | 'reference' | 'slot' | 'context_key' | 'local';

/** Changes to the texts of a syntax tree. */
export type TextChange = {
  /** The pointer of the nearest object around what is changed. */
  readonly at?: string;
  readonly text: (text: string, use: TextUse, at: string) => string;
  /** Changes a pointer into the file; the key says whose it is. */
  readonly place: (pointer: string, key: string) => string;
  /** Changes a name that is given to something, or a reference to it. */
  readonly name?: (name: string, role: NameRole) => string;
};

export type TextData = {
  readonly kind: 'text';
  readonly bytesMax: number;
  readonly bytesMin: number;
  readonly use: TextUse;
  readonly form?: TextForm;
  /** What this text gives a name to, and what it may refer to: both change in a rename. */
  readonly names?: NameRole;
  readonly refersTo?: readonly NameRole[];
  /** The built-ins that it names; whether it names one is checked after reading. */
  readonly known?: readonly string[];
};

type Build = (value: never, node: SourceNode, reader: Reader) => unknown;
type MapTree = (value: never, change: TextChange) => unknown;

/** By what an object is one of several. */
export type When = {
  /** One of these keys is there. */
  readonly has?: readonly string[];
  readonly is?: readonly [key: string, value: string];
  readonly isEmpty?: true;
};

/** How a value is written. The reader, the published schema, the reference page and the text walk interpret this. */
export type KindData =
  | TextData
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'flag' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** A number, or a text that is one. */
  | { readonly kind: 'numeric' }
  | { readonly kind: 'json'; readonly use: TextUse; readonly only?: 'array' | 'object' }
  /** An object of short texts under keys of the author's own. */
  | { readonly kind: 'texts'; readonly use: TextUse }
  /** An object of values of one kind under keys of the author's own. */
  | { readonly kind: 'record'; readonly of: Kind }
  /** Accepted without effect. A rename may still touch it. */
  | { readonly kind: 'ignored'; readonly refersTo?: readonly NameRole[] }
  | {
      readonly kind: 'list';
      readonly of: Kind;
      readonly min: number;
      readonly max: number;
      readonly unique?: Unique;
    }
  | ObjectData
  | { readonly kind: 'variants'; readonly by: string; readonly of: { readonly [value: string]: Kind } }
  | { readonly kind: 'either'; readonly options: readonly Kind[]; readonly expected: string }
  | { readonly kind: 'chosen'; readonly options: readonly { readonly when?: When; readonly of: Kind }[] }
  /** An object without some of its keys. */
  | { readonly kind: 'without'; readonly keys: readonly string[]; readonly of: Kind }
  /** Read as another kind, then brought into the form of the syntax tree. */
  | { readonly kind: 'built'; readonly of: Kind; readonly build: Build; readonly map?: MapTree }
  /** Read by hand; everything else goes by the kinds that it must fit. */
  | {
      readonly kind: 'special';
      readonly read: (reader: Reader, node: SourceNode, what: string) => unknown;
      readonly map: MapTree;
      readonly fits: () => readonly Kind[];
    }
  | { readonly kind: 'lazy'; readonly name: string; readonly of: () => Kind };

/** The names in a list must differ. `key` is the key in the file, where it is not that in the tree. */
export type Unique = { readonly what: string; readonly name: string; readonly key?: string };

export type ObjectData = {
  readonly kind: 'object';
  readonly name: string;
  readonly fields: Fields;
  /** Unknown keys are errors, not warnings. */
  readonly isClosed: boolean;
  /** Unknown keys are left alone, because it is not known what the object is. */
  readonly isOpen?: true;
  readonly rules: readonly Rule[];
};

/** A rule about several fields of an object. */
export type Rule =
  | {
      /** Of these fields at least one (`none`) or at most one (`more`) must be there. */
      readonly of: readonly string[];
      readonly none?: (object: SourceObject) => ReadProblem & { readonly stray?: string };
      readonly more?: { readonly code: DiagnosticCode; readonly message: (name: string) => string };
    }
  | { readonly when: readonly [key: string, value: string]; readonly needs: string; readonly problem: ReadProblem }
  /** One of these fields must hold something, which an empty list or object does not. */
  | { readonly filled: readonly string[]; readonly problem: ReadProblem };

/** A kind of value, with the type of what it is read as. */
export type Kind<Value = unknown> = { readonly data: KindData; readonly type?: Value };

export type Field<Value = unknown, IsSure extends boolean = boolean, As extends string = string> = {
  readonly kind: Kind<Value>;
  /** A sentence for the reference page and for editors. */
  readonly says: string;
  readonly isNeeded: boolean;
  /** What it is where it is missing or wrong. */
  readonly otherwise?: Value;
  /** Its key in the syntax tree, where that differs. */
  readonly as?: As;
  readonly isSure?: IsSure;
  /** What to report where it is missing, if not just that. */
  readonly whenMissing?: (object: SourceObject, keys: readonly string[]) => ReadProblem;
  /** Why it has no effect here, of which an author is warned. */
  readonly unused?: string;
  /** It is for people and lists: what is wrong with it is a warning, and the workflow is used without it. */
  readonly isLabel?: true;
};

export type Fields = { readonly [name: string]: Field };

type KeyOf<Name, One> = One extends Field<infer _V, boolean, infer As> ? (string extends As ? Name : As) : Name;
type ValueOf<One> = One extends Field<infer Value> ? Value : never;
type SureKeys<F extends Fields> = { [N in keyof F]: F[N] extends Field<infer _V, true> ? N : never }[keyof F];

/** What an object is read as: its fields under their keys in the tree, and where it stands in the file. */
export type Read<F extends Fields> = { readonly at: string } & {
  readonly [N in SureKeys<F> as KeyOf<N, F[N]> & string]: ValueOf<F[N]>;
} & { readonly [N in Exclude<keyof F, SureKeys<F>> as KeyOf<N, F[N]> & string]?: ValueOf<F[N]> };

export type ObjectKind<F extends Fields> = Kind<Read<F>> & { readonly data: ObjectData; readonly fields: F };

/** The type that a kind is read as. */
export type Value<K> = K extends Kind<infer V> ? V : never;

type FieldOptions<Value, As extends string> = {
  readonly as?: As;
  readonly otherwise?: Value;
  readonly whenMissing?: Field['whenMissing'];
};

export function needed<Value, const As extends string = string>(
  kind: Kind<Value>,
  says: string,
  options: FieldOptions<Value, As> = {},
): Field<Value, true, As> {
  return { kind, says, isNeeded: true, ...(options as Pick<Field<Value, true, As>, keyof typeof options>) };
}

export function optional<Value, const As extends string = string>(
  kind: Kind<Value>,
  says: string,
  options: { readonly as?: As } = {},
): Field<Value, false, As> {
  return { kind, says, isNeeded: false, ...options };
}

/** A field with a value of its own where an author does not say. */
export function defaulted<Value, const As extends string = string>(
  kind: Kind<Value>,
  says: string,
  options: { readonly as?: As; readonly otherwise: NoInfer<Value> },
): Field<Value, true, As> {
  return { kind, says, isNeeded: false, ...options };
}

/** A list that is empty where an author does not say. */
export function optionalList<Item, const As extends string = string>(
  kind: Kind<readonly Item[]>,
  says: string,
  options: { readonly as?: As } = {},
): Field<readonly Item[], true, As> {
  return defaulted(kind, says, { ...options, otherwise: [] });
}

/** The same field as one that no run depends on. */
export function label<One extends Field>(field: One): One {
  return { ...field, isLabel: true };
}

export function object<const F extends Fields>(name: string, fields: F, rules: readonly Rule[] = []): ObjectKind<F> {
  return { data: { kind: 'object', name, fields, isClosed: false, rules }, fields };
}

/** An object of which only these fields are looked at. */
export function open<const F extends Fields>(name: string, fields: F): ObjectKind<F> {
  return { data: { kind: 'object', name, fields, isClosed: false, isOpen: true, rules: [] }, fields };
}

/** An object in which unknown keys are errors. */
export function closed<const F extends Fields>(name: string, fields: F, rules: readonly Rule[] = []): ObjectKind<F> {
  return { data: { kind: 'object', name, fields, isClosed: true, rules }, fields };
}

export function text(
  bytesMax: number,
  options: Partial<Omit<TextData, 'kind' | 'bytesMax'>> & { readonly use: TextUse },
): Kind<string> {
  return { data: { kind: 'text', bytesMax, bytesMin: 1, ...options } };
}

export function choice<const Choice extends string>(choices: readonly Choice[]): Kind<Choice> {
  return { data: { kind: 'choice', choices } };
}

export const flag: Kind<boolean> = { data: { kind: 'flag' } };
export const numeric: Kind<JsonValue> = { data: { kind: 'numeric' } };
export const ignored: Kind<never> = { data: { kind: 'ignored' } };
export const texts = (use: TextUse): Kind<{ readonly [name: string]: string }> => ({ data: { kind: 'texts', use } });

export function integer(min: number, max: number): Kind<number> {
  return { data: { kind: 'integer', min, max } };
}

export function json(use: TextUse): Kind<JsonValue> {
  return { data: { kind: 'json', use } };
}

export function jsonList(use: TextUse): Kind<readonly JsonValue[]> {
  return { data: { kind: 'json', use, only: 'array' } };
}

export function list<Item>(
  of: Kind<Item>,
  options: { readonly min?: number; readonly max?: number; readonly unique?: Unique } = {},
): Kind<readonly Item[]> {
  return { data: { kind: 'list', of, min: 0, max: LIST_MAX, ...options } };
}

export function record<Item>(of: Kind<Item>): Kind<readonly { readonly name: string; readonly value: Item }[]> {
  return { data: { kind: 'record', of } };
}

export function variants<Item>(by: string, of: { readonly [value: string]: Kind<Item> }): Kind<Item> {
  return { data: { kind: 'variants', by, of } };
}

export function either<const Options extends readonly Kind[]>(
  expected: string,
  ...options: Options
): Kind<Value<Options[number]>> {
  return { data: { kind: 'either', options, expected } };
}

export function chosen<Item>(...options: readonly { readonly when?: When; readonly of: Kind<Item> }[]): Kind<Item> {
  return { data: { kind: 'chosen', options } };
}

export function without<Item>(keys: readonly string[], of: Kind<Item>): Kind<Item> {
  return { data: { kind: 'without', keys, of } };
}

export function built<From, To>(
  of: Kind<From>,
  build: (value: From, node: SourceNode, reader: Reader) => To | undefined,
  map?: (value: To, change: TextChange) => To,
): Kind<To> {
  const data = { kind: 'built', of, build: build as Build } as const;
  return { data: map === undefined ? data : { ...data, map: map as MapTree } };
}

export function special<To>(options: {
  readonly read: (reader: Reader, node: SourceNode, what: string) => To | undefined;
  readonly map: (value: To, change: TextChange) => To;
  readonly fits: () => readonly Kind[];
}): Kind<To> {
  return { data: { kind: 'special', ...options, map: options.map as MapTree } };
}

/** A kind that contains itself. */
export function lazy<Item>(name: string, of: () => Kind<Item>): Kind<Item> {
  return { data: { kind: 'lazy', name, of } };
}

/** An object whose place no later phase needs. */
export function unplaced<F extends Fields>(of: ObjectKind<F>): Kind<Omit<Read<F>, 'at'>> {
  return built(of, ({ at: _, ...rest }) => rest);
}

/** A text that knows where it stands. */
export function located<const Key extends string>(
  key: Key,
  of: Kind<string>,
): Kind<{ readonly at: string } & { readonly [key in Key]: string }> {
  type Located = { readonly at: string } & { readonly [key in Key]: string };
  return built(
    of,
    (value, node) => ({ at: node.pointer, [key]: value }) as Located,
    (value, change) => {
      const changed = { at: change.place(value.at, 'at'), [key]: changedText(of, value[key], change) };
      return changed as Located;
    },
  );
}

/** A text with what a change makes of it and of the name in it. */
export function changedText({ data }: Kind, value: string, change: TextChange): string {
  if (data.kind !== 'text') return value;
  const changed = data.use === 'never' ? value : change.text(value, data.use, change.at ?? '');
  const role = data.names ?? data.refersTo?.[0];
  return role === undefined ? changed : (change.name?.(changed, role) ?? changed);
}

/** Whether an object is the one of several that is meant. */
export function isChosen(when: When | undefined, { fields }: SourceObject): boolean {
  if (when === undefined) return true;
  if (when.isEmpty === true && fields.size > 0) return false;
  if (when.has !== undefined && !when.has.some((key) => fields.has(key))) return false;
  if (when.is === undefined) return true;
  const [key, value] = when.is;
  const found = fields.get(key)?.value;
  return found?.kind === 'string' && found.value === value;
}

/** The value without some keys, as far as it has any. */
export function withoutFields(node: SourceNode, keys: readonly string[]): SourceNode {
  if (node.kind !== 'object') return node;
  return { ...node, fields: new Map([...node.fields].filter(([name]) => !keys.includes(name))) };
}
