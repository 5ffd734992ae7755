/** The ids from which one can go on for ever; each reference is looked at once. */
export function endlessReferences(references: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const open = new Map<string, number>();
  const referrers = new Map<string, string[]>();
  for (const [id, targets] of references) {
    const inside = targets.filter((target) => references.has(target));
    open.set(id, inside.length);
    for (const target of inside) {
      const known = referrers.get(target);
      if (known === undefined) referrers.set(target, [id]);
      else known.push(id);
    }
  }
  const done = [...open].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of done) {
    for (const referrer of referrers.get(id) ?? []) {
      const left = (open.get(referrer) ?? 0) - 1;
      open.set(referrer, left);
      if (left === 0) done.push(referrer);
    }
  }
  const settled = new Set(done);
  return new Set([...references.keys()].filter((id) => !settled.has(id)));
}
