/** A list that grows at its head. Branches of a run share the tail they have in common, so nothing is copied. */
export type SharedList<Item> = { readonly newest: Item; readonly older: SharedList<Item> | undefined };

export function withNewest<Item>(older: SharedList<Item> | undefined, newest: Item): SharedList<Item> {
  return { newest, older };
}

export function oldestFirst<Item>(list: SharedList<Item> | undefined): Item[] {
  const items: Item[] = [];
  for (let at = list; at !== undefined; at = at.older) items.push(at.newest);
  return items.reverse();
}
