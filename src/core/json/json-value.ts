import { Result } from 'neverthrow';
import { canonicalJson } from './canonical-json.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether an object or a list has no entry. Makes no list of all names, of which there may be many. */
export function isEmptyObject(value: object): boolean {
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}

/** Whether a value is an object and not null or an array. The caller must know that its fields are JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a key that the object itself has, never one that all objects inherit. */
export function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** `Array.isArray` that also narrows a readonly array. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value of a JSON text. */
export const parseJson = Result.fromThrowable(
  (text: string): JsonValue => JSON.parse(text),
  () => 'not_json' as const,
);

/** The same value with the keys of every object sorted, as in stored documents. */
export function inKeyOrder(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((key) => [key, ordered(object[key] ?? null)]),
  );
}

function ordered(value: JsonValue): JsonValue {
  if (isList(value)) return value.map(ordered);
  return isObject(value) ? inKeyOrder(value) : value;
}

/** The same object type with `undefined` turned into "may be absent". */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy without the fields that are `undefined`, so that an optional field is either set or absent. */
export function defined<T extends object>(fields: T): Defined<T> {
  const set: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) set[key] = value;
  return set as Defined<T>;
}

/** A value as JSON on one line, for messages and files. */
export function quote(value: unknown): string {
  const whole = typeof value === 'string' ? value.toWellFormed() : value;
  return canonicalJson(whole).unwrapOr('null');
}

/** JSON for people: one field per line. Nothing is hashed or signed in this form. */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** An object with changes applied, oldest first; null removes a key. It is copied once. */
export function applyContextDeltas(context: JsonObject, deltas: readonly JsonObject[]): JsonObject {
  const whole = new Map(Object.entries(context));
  for (const delta of deltas) {
    for (const [key, value] of Object.entries(delta)) {
      if (value === null) whole.delete(key);
      else whole.set(key, value);
    }
  }
  return Object.fromEntries(whole);
}
