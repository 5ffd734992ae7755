export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Leaf = { readonly pointer: string; readonly path: readonly string[]; readonly value: Json };

/** Every value of a document that holds no others, with the way to it. */
export function leavesOf(value: Json, path: readonly string[] = []): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ pointer: pointerOf(path), path, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

/** Every object and list of a document, itself included. */
export function branchesOf(value: Json, path: readonly string[] = []): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, one]) => branchesOf(one, [...path, key]));
  return [{ pointer: pointerOf(path), path, value }, ...inner];
}

/** The document with one value changed; `undefined` removes it. */
export function replaced(value: Json, path: readonly string[], next: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return next ?? null;
  if (Array.isArray(value)) {
    const items = value.map((item: Json, i) => (String(i) === key ? replaced(item, rest, next) : item));
    return rest.length === 0 && next === undefined ? items.filter((_, i) => String(i) !== key) : items;
  }
  const entries = Object.entries(value as { [key: string]: Json });
  if (rest.length === 0 && next === undefined) return Object.fromEntries(entries.filter(([name]) => name !== key));
  const isNew = !entries.some(([name]) => name === key);
  const all: [string, Json][] = isNew ? [...entries, [key, null]] : entries;
  return Object.fromEntries(all.map(([name, one]) => [name, name === key ? replaced(one, rest, next) : one]));
}

export function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
