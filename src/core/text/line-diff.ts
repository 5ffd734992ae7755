/** A line of two texts that are compared. */
export type DiffLine = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string };

/** The lines of two texts, with those that were removed and added. The longest common part counts as the same. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, head).map(same),
    ...middleDiff(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ];
}

const CONTEXT_LINES = 3;
const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** What changes in a file, as a unified diff with one hunk; empty when no line does. `undefined`: there was no file. */
export function unifiedDiff(file: string, before: string | undefined, after: string): readonly string[] {
  const withoutLastBreak = (text: string) => text.replace(/\n$/, '');
  const lines = lineDiff(withoutLastBreak(before ?? ''), withoutLastBreak(after)).filter(
    // An absent or empty file has no lines, not an empty one.
    ({ kind, text }) => text !== '' || kind === 'same' || (kind === 'removed' ? (before ?? '') : after) !== '',
  );
  const isChange = ({ kind }: DiffLine) => kind !== 'same';
  const first = lines.findIndex(isChange);
  if (first < 0) return [];
  const from = Math.max(0, first - CONTEXT_LINES);
  const hunk = lines.slice(from, lines.findLastIndex(isChange) + 1 + CONTEXT_LINES);
  const range = (own: DiffLine['kind']) => {
    const count = hunk.filter(({ kind }) => kind === 'same' || kind === own).length;
    return `${count > 0 ? from + 1 : from},${count}`;
  };
  return [
    `--- ${before === undefined ? '/dev/null' : file}`,
    `+++ ${file}`,
    `@@ -${range('removed')} +${range('added')} @@`,
    ...hunk.map(({ kind, text }) => `${SIGNS[kind]}${text}`),
  ];
}

function middleDiff(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const lengths = commonLengths(old, now);
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [left, right] = [old[i], now[j]];
    if (left !== undefined && left === right) {
      lines.push({ kind: 'same', text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: left });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: right ?? '' });
      j += 1;
    }
  }
  return lines;
}

/** How many lines the remaining parts have in common, for each pair of positions. */
function commonLengths(old: readonly string[], now: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row === undefined) continue;
      const diagonal = (lengths[i + 1]?.[j + 1] ?? 0) + 1;
      row[j] = old[i] === now[j] ? diagonal : Math.max(lengths[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}
