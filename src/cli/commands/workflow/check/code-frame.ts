import type { Line } from '../../../output/line.ts';

const WIDTH_MAX = 100;
/** What is kept of a long line before the place that is meant. */
const LEAD = 40;
/** A longer mark says no more than where it begins. */
const MARKS_MAX = 48;

/** The line that is meant with the one before it, and a mark under the place. Long lines are cut around it. */
export function codeFrame(
  text: string,
  { line, column, length }: { readonly line: number; readonly column: number; readonly length: number },
): readonly Line[] {
  const lines = text.replaceAll('\t', ' ').split('\n');
  const here = lines[line - 1];
  if (here === undefined || here.trim() === '') return [];
  const characters = [...here.replace(/\r$/, '')];
  const from =
    characters.length <= WIDTH_MAX ? 0 : Math.max(0, Math.min(column - 1 - LEAD, characters.length - WIDTH_MAX));
  const shown = characters.slice(from, from + WIDTH_MAX).join('');
  const lead = from > 0 ? '…' : '';
  const tail = from + WIDTH_MAX < characters.length ? '…' : '';
  const at = column - 1 - from + lead.length;
  const marked = Math.max(1, Math.min(length, WIDTH_MAX - (column - 1 - from), characters.length - column + 1));
  const marks = marked > MARKS_MAX ? 1 : marked;
  const gutter = String(line).length;
  const before = lines[line - 2];
  const isShown = before !== undefined && before.trim() !== '' && before.length <= WIDTH_MAX;
  return [
    ...(isShown ? [[{ text: `    ${String(line - 1).padStart(gutter)} │ ${before}`, style: 'dim' } as const]] : []),
    [{ text: `  ▸ ${line} │ `, style: 'dim' }, `${lead}${shown}${tail}`],
    [
      { text: `    ${' '.repeat(gutter)} │ ${' '.repeat(at)}`, style: 'dim' },
      { text: '^'.repeat(marks), style: 'bad' },
    ],
  ];
}
