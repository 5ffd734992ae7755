/** Keeps the most recently used entries, up to a limit. */
export type BoundedCache<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  newestFirst(): readonly (readonly [Key, Value])[];
};

export function boundedCache<Key, Value>(entriesMax: number): BoundedCache<Key, Value> {
  const entries = new Map<Key, Value>();
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
      entries.delete(key);
      entries.set(key, value);
      const oldest = entries.keys().next();
      if (entries.size > entriesMax && oldest.done !== true) entries.delete(oldest.value);
    },
    delete: (key) => {
      entries.delete(key);
    },
    newestFirst: () => [...entries].reverse(),
  };
}
