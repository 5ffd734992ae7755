/** The candidate that a misspelled word most likely means; `undefined` if none is close. */
export function nearest<const Word extends string>(word: string, candidates: readonly Word[]): Word | undefined {
  const wanted = word.toLowerCase();
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  let best: { readonly candidate: Word; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    // Every extra letter is an edit, so this candidate is too far away. The check also keeps very long words cheap.
    if (Math.abs(candidate.length - wanted.length) > allowed) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/**
 * The same for dotted ids. They are compared by their last part, because a shared namespace would make all of them look
 * alike. A file extension and other separators between words do not count as misspellings.
 */
export function nearestId(written: string, ids: readonly string[]): string | undefined {
  const id = written.replace(/\.jsonc?$/i, '');
  const same = ids.find((candidate) => letters(candidate) === letters(id));
  if (same !== undefined) return same;
  const last = (full: string) => full.slice(full.lastIndexOf('.') + 1);
  const name = nearest(last(id), ids.map(last));
  return ids.find((candidate) => last(candidate) === name);
}

/** An id with the name that people know it by. */
export type NamedId = { readonly id: string; readonly name?: string };

/** What a text may mean: one id if that is clear, and else those that share words with it, which may be none. */
export type MeantIds = { readonly id?: string; readonly choices: readonly string[] };

/**
 * The ids that a text may mean: "coding" is about `wr.coding_task`, and so is the name of that workflow. Ids or names
 * that have all words of the text come before those that have only some, which are never taken for clear.
 */
export function meantIds(written: string, known: readonly NamedId[]): MeantIds {
  const near = nearestId(
    written,
    known.map(({ id }) => id),
  );
  const named = known.filter(({ name = '' }) => name !== '' && isSameText(name, written));
  // Two workflows can have the name that was written, and only the caller knows which one is meant.
  if (near !== undefined && named.length < 2) return { id: near, choices: [near] };
  const words = wordsOf(written).filter((word) => !COMMON_WORDS.includes(word));
  const shared = known.map(({ id, name = '' }) => {
    const own = wordsOf(`${id} ${name}`);
    return { id, count: words.filter((word) => own.some((one) => one.startsWith(word))).length };
  });
  const most = Math.max(0, ...shared.map(({ count }) => count));
  const about = most === 0 ? [] : shared.filter(({ count }) => count === most);
  const choices = (named.length > 0 ? named : about).map(({ id }) => id);
  const [only] = choices;
  const isClear = choices.length === 1 && (named.length > 0 || most === words.length);
  return { ...(isClear && only !== undefined ? { id: only } : {}), choices };
}

/** What agents write before an id, and words that say nothing about it. */
const COMMON_WORDS: readonly string[] =
  'wr workflow workflows routine routines template templates a an and the of to for in on with my this'.split(' ');

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function isSameText(a: string, b: string): boolean {
  return wordsOf(a).join(' ') === wordsOf(b).join(' ');
}

function letters(id: string): string {
  return id.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** How many characters must be inserted, removed, changed or swapped with their neighbor to turn one text into the other. */
export function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(before, j - 2) + 1 : changed;
      next.push(Math.min(changed, swapped, at(row, j) + 1, at(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
