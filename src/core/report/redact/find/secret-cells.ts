import { DELIMITERS } from '../../note/read-table.ts';
import type { Secret } from '../find-secrets.ts';
import { isKeyLike, isNamedCell, isSecretName } from '../secret-names.ts';

/** A cell of a table: where it stands in a text, and what a reader sees of it. */
export type Cell = { readonly from: number; readonly to: number; readonly text: string };

/**
 * What stands below or beside a name. In a table of more than two columns, what stands beside a name may tell anything
 * about it, so it must look like a key.
 */
export function secretCells(rows: readonly (readonly Cell[])[]): readonly Secret[] {
  const [head = [], ...body] = rows;
  const below = head.flatMap(({ text: name }, column) => {
    if (!isSecretName(name)) return [];
    return body.flatMap((row) => {
      const cell = row[column];
      return cell !== undefined && isNamedCell(name, cell.text) ? [cell] : [];
    });
  });
  const beside = rows.flatMap(([first, ...others]) => {
    if (first === undefined || !isSecretName(first.text)) return [];
    const isPair = head.length === 2;
    return others.filter(({ text }) => (isPair ? isNamedCell(first.text, text) : isKeyLike(text)));
  });
  return [...below, ...beside].map(({ from, to }) => ({ from, to, kind: 'password' }));
}

/** The same for tables in a text that is no note. */
export function secretsInTables(text: string): readonly Secret[] {
  if (!text.includes('|') || !/\n {0,3}[|:-]/.test(text)) return [];
  const lines: Cell[][] = [];
  const tables: Cell[][][] = [];
  let isTable = false;
  let from = 0;
  for (const line of text.split('\n')) {
    const cells = line.includes('|') ? cellsOf(line, from) : [];
    const above = lines.at(-1) ?? [];
    if (cells.length === 0) isTable = false;
    else if (above.length > 0 && !isTable && DELIMITERS.test(line)) {
      isTable = true;
      tables.push([above]);
    } else if (isTable) tables.at(-1)?.push(cells);
    lines.push(cells);
    from += line.length + 1;
  }
  return tables.flatMap(secretCells);
}

/** Without the empty ones outside of the first and the last bar. */
function cellsOf(line: string, start: number): Cell[] {
  let from = start;
  const cells = line.split('|').map((written): Cell => {
    const lead = written.length - written.trimStart().length;
    const cell = {
      from: from + lead,
      to: from + written.trimEnd().length,
      text: written.replaceAll(/[\\*_`]/g, '').trim(),
    };
    from += written.length + 1;
    return cell;
  });
  return cells.slice(line.trimStart().startsWith('|') ? 1 : 0, line.trimEnd().endsWith('|') ? -1 : undefined);
}
