import type { Terminal } from '../program.ts';
import { type Line, type LineSpan, printable } from './line.ts';

/** Marks that stand over the character before them, and what is not seen at all. */
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Characters that take two cells: East Asian scripts, their forms and punctuation, and pictures. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

/** How many cells of a terminal a text takes, as far as that can be known without asking it. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of printable(text)) width += cellsOf(character);
  return width;
}

/** A text that takes no more than so many cells, on one line; what is cut ends in an ellipsis. */
export function clipText(text: string, widthMax: number): string {
  // White space that breaks a line becomes a blank; a text of a megabyte is not looked at beyond what can be shown.
  const line = printable(
    text
      .slice(0, LOOKED_AT_PER_CELL * (widthMax + 1))
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return textWidth(line) <= widthMax ? line : `${beginning(line, widthMax - 1)}…`;
}

const LOOKED_AT_PER_CELL = 16;

/** Filled with blanks up to a width. */
export function padText(text: string, width: number): string {
  return `${text}${' '.repeat(Math.max(0, width - textWidth(text)))}`;
}

/** A text as lines of no more than so many cells, broken at blanks where that is possible. */
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

/** A text behind its first words, going on below them where it does not fit: under the blanks that `rest` says. */
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

/** How wide lines may be that a shell tool may want whole: as the terminal is, and without end where there is none. */
export function columnsOf({ terminal }: { readonly terminal: Pick<Terminal, 'columns'> }): number {
  const columns = terminal.columns() ?? 0;
  // A terminal that nobody has given a size says 0.
  return columns === 0 ? Number.POSITIVE_INFINITY : Math.max(COLUMNS_MIN, columns);
}

const COLUMNS_MIN = 40;

/** Less than this is no room for words. */
const ROOM_MIN = 20;

/** A word that is too long for a line, cut where lines end. */
function inPieces(word: string, widthMax: number): readonly string[] {
  const pieces: string[] = [];
  // What fits is measured, never all that is left: a word may have a megabyte.
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

/** A line whose first piece says who speaks: what does not fit goes on below the words. */
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
