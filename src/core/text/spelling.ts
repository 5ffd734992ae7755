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

/** The ids that contain every word of a text, or the beginning of it: "coding" is about `wr.coding_task`. */
export function idsAbout(written: string, ids: readonly string[]): readonly string[] {
  const words = wordsOf(written).filter((word) => !NAMESPACES.includes(word));
  const isAbout = (id: string) => words.every((word) => wordsOf(id).some((one) => one.startsWith(word)));
  return words.length === 0 ? [] : ids.filter(isAbout);
}

/** What agents write before an id. */
const NAMESPACES: readonly string[] = ['wr', 'workflow', 'routine', 'template'];

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
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
