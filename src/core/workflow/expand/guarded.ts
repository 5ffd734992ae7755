import type { Condition } from '../compiled/condition.ts';
import type { ExpandedEntry } from './expanded.ts';

/** The entries under a condition that is decided on the way into the first of them, for all. */
export function guarded(entries: readonly ExpandedEntry[], condition: Condition | undefined): readonly ExpandedEntry[] {
  const [first, ...others] = entries;
  if (first === undefined || condition === undefined) return entries;
  return [{ ...first, guards: [{ condition, entries: entries.length }, ...(first.guards ?? [])] }, ...others];
}
