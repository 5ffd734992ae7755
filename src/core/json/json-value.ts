import { Result } from 'neverthrow';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a value is an object and not null or an array. The caller must know that its fields are JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
