import type { ExpandedEntry, ExpandedStep } from '../expanded.ts';
import { isEntered, type NamedConditions } from '../loop-controls.ts';

type Change = (step: ExpandedStep) => ExpandedStep;

/** Changes every step that may be the first to be done. */
export function changeFirst(
  entries: readonly ExpandedEntry[],
  change: Change,
  named: NamedConditions,
): readonly ExpandedEntry[] {
  const found = edgeOf(entries, 'first', named);
  return entries.map((entry, i) =>
    found.has(i) ? changed(entry, change, (body) => changeFirst(body, change, named)) : entry,
  );
}

/** Changes every step that may be the last to be done. */
export function changeLast(
  entries: readonly ExpandedEntry[],
  change: Change,
  named: NamedConditions,
): readonly ExpandedEntry[] {
  const found = edgeOf(entries, 'last', named);
  return entries.map((entry, i) =>
    found.has(i) ? changed(entry, change, (body) => changeLast(body, change, named)) : entry,
  );
}

function changed(
  entry: ExpandedEntry,
  change: Change,
  inLoop: (body: readonly ExpandedEntry[]) => readonly ExpandedEntry[],
): ExpandedEntry {
  if (entry.kind === 'step') return { ...entry, step: change(entry.step) };
  return { ...entry, loop: { ...entry.loop, body: inLoop(entry.loop.body) } };
}

/** The places of the entries that may be the first or the last of a list. */
function edgeOf(
  entries: readonly ExpandedEntry[],
  edge: 'first' | 'last',
  named: NamedConditions,
): ReadonlySet<number> {
  const groups = groupsOf(entries);
  const found = new Set<number>();
  let at = edge === 'first' ? 0 : entries.length - 1;
  for (let entry = entries[at]; entry !== undefined; entry = entries[at]) {
    found.add(at);
    const here = at;
    // Only when the group around it is skipped does one beyond that group take the place of an entry that is sure.
    const around = isSure(entry, named) ? groups.filter(({ from, to }) => from <= here && here <= to) : undefined;
    if (around?.length === 0) break;
    if (edge === 'first') at = Math.min(...(around?.map(({ to }) => to) ?? [at])) + 1;
    else at = Math.max(...(around?.map(({ from }) => from) ?? [at])) - 1;
  }
  return found;
}

/** The stretches of a list that are skipped together. */
function groupsOf(entries: readonly ExpandedEntry[]): readonly { readonly from: number; readonly to: number }[] {
  return entries.flatMap(({ guards = [] }, from) => guards.map((guard) => ({ from, to: from + guard.entries - 1 })));
}

/** Whether an entry is done whenever a run comes to it. */
function isSure(entry: ExpandedEntry, named: NamedConditions): boolean {
  if (entry.kind === 'step') return entry.step.syntax.runCondition === undefined;
  const { body } = entry.loop;
  const groups = groupsOf(body);
  const isSomeDone = body.some((one, i) => isSure(one, named) && !groups.some(({ from, to }) => from <= i && i <= to));
  return isSomeDone && isEntered(entry.loop, named);
}
