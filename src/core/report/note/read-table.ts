import type { NoteBlock, NoteInline } from './note.ts';
import { parseInlines } from './parse-inlines.ts';

/** The line below the head of a table. */
export const DELIMITERS = /^ {0,3}\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|?[ ]*$/;
/** More than anybody reads; a line with more bars is text. */
const COLUMNS_MAX = 32;

/** A table, where a line of cells stands above one of dashes. */
export function readTable(
  lines: readonly string[],
  from: number,
): { readonly block: NoteBlock; readonly next: number } | undefined {
  const head = lines[from] ?? '';
  if (!head.includes('|') || !(lines[from + 1] ?? '').includes('|')) return undefined;
  if (!DELIMITERS.test(lines[from + 1] ?? '')) return undefined;
  const columns = cellsOf(head).length;
  if (columns > COLUMNS_MAX || columns !== cellsOf(lines[from + 1] ?? '').length) return undefined;
  let at = from + 2;
  while (at < lines.length && (lines[at] ?? '').includes('|')) at += 1;
  const rows = [head, ...lines.slice(from + 2, at)].map((line): readonly (readonly NoteInline[])[] =>
    cellsOf(line).slice(0, columns).map(parseInlines),
  );
  return { block: { kind: 'table', rows }, next: at };
}

/** Cells between bars; a bar behind a backslash is part of its cell. */
function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
