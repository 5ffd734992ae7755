export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue };

/** The same value with the keys of every object in order, as stored documents have them. */
export function inKeyOrder(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((key) => [key, ordered(object[key] ?? null)]),
  );
}

function ordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(ordered);
  return value !== null && typeof value === 'object' ? inKeyOrder(value as JsonObject) : value;
}
