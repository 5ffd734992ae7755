import { lineDiff } from './line-diff.ts';

/** A part of a text that two people changed: what it was, and what each made of it. */
export type MergePart = {
  /** Who changed it; `same` if nobody did, or both in the same way. */
  readonly kind: 'same' | 'mine' | 'theirs' | 'both';
  readonly base: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
};

/** Which side a part is taken from where both changed it. */
export type MergeChoice = 'mine' | 'theirs' | 'mine_then_theirs';

/** Lines of the base that one side replaced by others. */
type Change = { readonly from: number; readonly to: number; readonly lines: readonly string[] };

/** Splits two versions of a text into parts, by what each changed of the text that they have in common. */
export function mergeParts(base: string, mine: string, theirs: string): readonly MergePart[] {
  const lines = base.split('\n');
  const changes = { mine: changesTo(base, mine), theirs: changesTo(base, theirs) };
  const parts: MergePart[] = [];
  let at = 0;
  for (const region of regionsOf([...changes.mine, ...changes.theirs])) {
    if (region.from > at) parts.push(unchanged(lines.slice(at, region.from)));
    const side = (own: readonly Change[]) => applied(lines, region, own);
    parts.push(partOf(lines.slice(region.from, region.to), side(changes.mine), side(changes.theirs)));
    at = region.to;
  }
  return at < lines.length ? [...parts, unchanged(lines.slice(at))] : parts;
}

/** The whole text. Where both changed a part, one choice is needed for each, in order. */
export function mergedText(parts: readonly MergePart[], choices: readonly MergeChoice[]): string {
  let next = 0;
  const lines = parts.flatMap(({ kind, mine, theirs }) => {
    if (kind !== 'both') return kind === 'theirs' ? theirs : mine;
    const choice = choices[next++] ?? 'mine';
    if (choice === 'mine_then_theirs') return [...mine, ...theirs];
    return choice === 'mine' ? mine : theirs;
  });
  return lines.join('\n');
}

function unchanged(lines: readonly string[]): MergePart {
  return { kind: 'same', base: lines, mine: lines, theirs: lines };
}

function partOf(base: readonly string[], mine: readonly string[], theirs: readonly string[]): MergePart {
  const isSame = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((one, i) => one === b[i]);
  if (isSame(mine, theirs)) return { kind: 'same', base, mine, theirs };
  if (isSame(mine, base)) return { kind: 'theirs', base, mine, theirs };
  return { kind: isSame(theirs, base) ? 'mine' : 'both', base, mine, theirs };
}

function changesTo(base: string, text: string): readonly Change[] {
  const changes: { from: number; to: number; lines: string[] }[] = [];
  let at = 0;
  let open: (typeof changes)[number] | undefined;
  for (const { kind, text: line } of lineDiff(base, text)) {
    if (kind === 'same') open = undefined;
    else if (open === undefined) {
      open = { from: at, to: at, lines: [] };
      changes.push(open);
    }
    if (kind === 'added') open?.lines.push(line);
    if (kind !== 'added') at += 1;
    if (kind === 'removed' && open !== undefined) open.to = at;
  }
  return changes;
}

/** Changes that overlap or touch belong together: nobody can tell which of them comes first. */
function regionsOf(changes: readonly Change[]): readonly Pick<Change, 'from' | 'to'>[] {
  const regions: { from: number; to: number }[] = [];
  for (const { from, to } of changes.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const last = regions.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else regions.push({ from, to });
  }
  return regions;
}

/** The lines of a region with the changes of one side. */
function applied(
  lines: readonly string[],
  region: Pick<Change, 'from' | 'to'>,
  own: readonly Change[],
): readonly string[] {
  const made: string[] = [];
  let at = region.from;
  for (const { from, to, lines: now } of own.filter((one) => one.from >= region.from && one.to <= region.to)) {
    made.push(...lines.slice(at, from), ...now);
    at = to;
  }
  return [...made, ...lines.slice(at, region.to)];
}
