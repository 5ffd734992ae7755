/** Keeps the most recently used entries, up to a limit. */
export type BoundedCache<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  newestFirst(): readonly (readonly [Key, Value])[];
};

/** What the entries together may take. An entry that is larger than that is not kept. */
export type CacheWeight<Value> = { readonly bytesMax: number; readonly bytesOf: (value: Value) => number };

export function boundedCache<Key, Value>(
  entriesMax: number,
  { bytesMax, bytesOf }: CacheWeight<Value> = { bytesMax: Number.POSITIVE_INFINITY, bytesOf: () => 0 },
): BoundedCache<Key, Value> {
  const entries = new Map<Key, Value>();
  let bytes = 0;
  const drop = (key: Key) => {
    const value = entries.get(key);
    if (value !== undefined) bytes -= bytesOf(value);
    entries.delete(key);
  };
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      // A map keeps the order of insertion, so inserting again moves an entry to the end.
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set: (key, value) => {
      drop(key);
      entries.set(key, value);
      bytes += bytesOf(value);
      for (const oldest of entries.keys()) {
        if (entries.size <= entriesMax && bytes <= bytesMax) break;
        drop(oldest);
      }
    },
    delete: drop,
    newestFirst: () => [...entries].reverse(),
  };
}
