import type { Line } from '../../../../output/line.ts';
import { plural } from '../../../../output/wording.ts';
import type { TreeRow } from '../../../../sessions/tree-steps.ts';

const ROWS_MAX = 40;
const HEAD_ROWS = 8;

/** A picture that fits on a screen: its beginning, its end, and how much lies between. */
export function shortened(rows: readonly TreeRow[]): readonly Line[] {
  if (rows.length <= ROWS_MAX) return rows.map(({ line }) => line);
  const head = rows.slice(0, HEAD_ROWS);
  const tail = rows.slice(rows.length - (ROWS_MAX - HEAD_ROWS - 1));
  const hidden = rows.slice(HEAD_ROWS, rows.length - tail.length);
  const sum = (of: 'steps' | 'branches') => hidden.reduce((whole, row) => whole + row[of], 0);
  const branches = sum('branches') === 0 ? '' : ` and ${sum('branches')} branches`;
  const words = `⋮ ${plural(sum('steps'), 'step')}${branches} not shown; --verbose shows them`;
  return [...head.map(({ line }) => line), [{ text: words, style: 'dim' }], ...tail.map(({ line }) => line)];
}
