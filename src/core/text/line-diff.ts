/** A line of two texts that were laid over each other. */
export type DiffLine = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string };

/** The lines of two texts with what was taken out and put in; the longest common part counts as the same. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
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

/** How many lines the rests of both texts have in common, from each pair of places on. */
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
