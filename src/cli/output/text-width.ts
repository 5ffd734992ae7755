import type { Terminal } from '../program.ts';
import { type Line, type LineSpan, printable } from './line.ts';

/** Combining marks and invisible characters. */
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Characters that take two cells: East Asian scripts and punctuation, and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

/** How many terminal cells a text takes, as well as that can be known without asking the terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of printable(text)) width += cellsOf(character);
  return width;
}

/** A text on one line that fits a width; a clipped text ends in an ellipsis. */
export function clipText(text: string, widthMax: number): string {
  // Only as much of the text is read as can be shown, because it may be a megabyte.
  const line = printable(
    text
      .slice(0, LOOKED_AT_PER_CELL * (widthMax + 1))
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return textWidth(line) <= widthMax ? line : `${beginning(line, widthMax - 1)}…`;
}

const LOOKED_AT_PER_CELL = 16;

/** Padded with blanks to a width. */
export function padText(text: string, width: number): string {
  return `${text}${' '.repeat(Math.max(0, width - textWidth(text)))}`;
}

/** A text as lines that fit a width, broken at blanks if possible. */
export function wrapText(text: string, widthMax: number): readonly string[] {
  const lines: string[] = [];
  let [line, width] = ['', 0];
  for (const word of printable(text.replaceAll(/\s+/g, ' ').trim()).split(' ')) {
    const pieces = inPieces(word, widthMax);
    for (const [i, piece] of pieces.entries()) {
      const blank = line === '' || i > 0 ? '' : ' ';
      const pieceWidth = textWidth(piece);
      if (i === 0 && width + blank.length + pieceWidth <= widthMax) {
        line += blank + piece;
        width += blank.length + pieceWidth;
      } else {
        if (line !== '') lines.push(line);
        [line, width] = [piece, pieceWidth];
      }
    }
  }
  return line === '' ? lines : [...lines, line];
}

/**
 * A text with all its blanks as rows that surely fit a width. Terminals disagree about wide characters, so each that may
 * take two cells counts as two.
 */
export function rowsOf(text: string, widthMax: number): readonly string[] {
  const rows: string[] = [];
  let [row, width] = ['', 0];
  for (const character of printable(text)) {
    const cells = character < '\u1100' ? 1 : 2;
    if (row !== '' && width + cells > widthMax) {
      rows.push(row);
      [row, width] = ['', 0];
    }
    row += character;
    width += cells;
  }
  return [...rows, row];
}

/** A text after a first label, wrapped under an indent of `rest` blanks. */
export function hangText(
  text: string,
  { first, rest, width }: { readonly first: string; readonly rest: number; readonly width: number },
): readonly string[] {
  const room = Math.max(ROOM_MIN, width - rest);
  const isBeside = textWidth(first) <= rest;
  const lines = wrapText(text, room).map(
    (line, i) => `${i === 0 && isBeside ? padText(first, rest) : ' '.repeat(rest)}${line}`,
  );
  return isBeside ? (lines.length === 0 ? [first] : lines) : [first, ...lines];
}

/** The width for lines that a shell tool may want unbroken: that of the terminal, or unlimited without one. */
export function columnsOf({ terminal }: { readonly terminal: Pick<Terminal, 'columns'> }): number {
  const columns = terminal.columns();
  if (columns === undefined) return Number.POSITIVE_INFINITY;
  return columns === 0 ? COLUMNS_UNKNOWN : Math.max(COLUMNS_MIN, columns);
}

const COLUMNS_MIN = 40;
/** A terminal without a size reports 0. */
const COLUMNS_UNKNOWN = 80;

/** Text never gets less room than this. */
const ROOM_MIN = 20;

/** A word that is too long for a line, cut into pieces that fit. */
function inPieces(word: string, widthMax: number): readonly string[] {
  const pieces: string[] = [];
  // Only what fits is measured, because a word may be a megabyte.
  for (let rest = word; rest !== ''; rest = rest.slice(pieces.at(-1)?.length)) {
    const [first = ''] = rest;
    pieces.push(beginning(rest, widthMax) || first);
  }
  return pieces;
}

/** The longest beginning that fits. */
function beginning(text: string, widthMax: number): string {
  let [width, length] = [0, 0];
  for (const character of text) {
    width += cellsOf(character);
    if (width > widthMax) break;
    length += character.length;
  }
  return text.slice(0, length);
}

function cellsOf(character: string): number {
  if (character < '\u0300') return 1;
  if (UNSEEN.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** A line whose first piece names the speaker; the rest wraps under the words. */
export function fitLine(line: Line, columns: number): readonly Line[] {
  const [speaker = '', ...words] = line;
  const text = words.map((span) => (typeof span === 'string' ? span : span.text)).join('');
  const before = typeof speaker === 'string' ? speaker : speaker.text;
  if (words.length === 0 || textWidth(before + text) <= columns) return [line];
  const [first = '', ...rest] = hangText(text, { first: '', rest: before.length, width: columns });
  return [[speaker, first.slice(before.length)], ...rest.map((one): Line => [one])];
}

/** Rows in columns as wide as their widest cell, two blanks apart. The last cell of a row is not padded. */
export function table(rows: readonly (readonly LineSpan[])[]): readonly Line[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, textWidth(textOf(cell)));
  }
  return rows.map((row) =>
    row.flatMap((cell, i) => {
      const blanks = ' '.repeat((widths[i] ?? 0) - textWidth(textOf(cell)) + 2);
      return i === row.length - 1 ? [cell] : [cell, blanks];
    }),
  );
}

function textOf(span: LineSpan): string {
  return typeof span === 'string' ? span : span.text;
}
