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
