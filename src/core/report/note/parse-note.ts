import { visibleText } from '../../text/visible-text.ts';
import type { NoteBlock, NoteInline } from './note.ts';
import { parseInlines } from './parse-inlines.ts';

/** The line below the head of a table. */
export const DELIMITERS = /^ {0,3}\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|?[ ]*$/;
/** A line with more columns is text. */
const COLUMNS_MAX = 32;

/** A table: a line of cells above a line of dashes. */
function readTable(
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

/** Cells between bars; a bar after a backslash is part of its cell. */
function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Lists and quotes that are nested deeper are text. */
const DEPTH_MAX = 8;

const BLANK = /^\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,32})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(?:( {1,4})(?=\S)|[ \t]*(?=\s|$))/;

type Lines = readonly string[];
type Read = { readonly block: NoteBlock; readonly next: number };

/** Parses a note. Everything in it becomes a block or text; nothing is passed on unparsed. */
export function parseNote(markdown: string): readonly NoteBlock[] {
  return parseBlocks(visibleText(markdown).replaceAll('\t', '    ').split('\n'), 0);
}

function parseBlocks(lines: Lines, depth: number): readonly NoteBlock[] {
  const blocks: NoteBlock[] = [];
  for (let at = 0; at < lines.length; ) {
    if (BLANK.test(lines[at] ?? '')) {
      at += 1;
      continue;
    }
    const { block, next } = readBlock(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function readBlock(lines: Lines, at: number, depth: number): Read {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line);
  if (fence !== null) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const text = (heading[2] ?? '').replace(/(?:^|[ \t])#{1,100}[ \t]*$/, '').trim();
    const block = { kind: 'heading', level: heading[1]?.length ?? 1, content: parseInlines(text) } as const;
    return { block, next: at + 1 };
  }
  if (RULE.test(line)) return { block: { kind: 'rule' }, next: at + 1 };
  if (depth < DEPTH_MAX && QUOTE.test(line)) return readQuote(lines, at, depth);
  if (depth < DEPTH_MAX && ITEM.test(line)) return readList(lines, at, depth);
  return readTable(lines, at) ?? readParagraph(lines, at, depth);
}

function readFence(lines: Lines, from: number, [, fence = '```', language = '']: RegExpExecArray): Read {
  const closing = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},}[ \\t]*$`);
  let at = from + 1;
  while (at < lines.length && !closing.test(lines[at] ?? '')) at += 1;
  const text = lines.slice(from + 1, at).join('\n');
  return { block: { kind: 'code', language, text }, next: at + 1 };
}

/** A line without `>` that continues a paragraph of the quote belongs to the quote too. */
function readQuote(lines: Lines, from: number, depth: number): Read {
  const inner: string[] = [];
  let at = from;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (QUOTE.test(line)) inner.push(line.replace(QUOTE, ''));
    else if (BLANK.test(line) || startsBlock(line) || BLANK.test(inner.at(-1) ?? '')) break;
    else inner.push(line);
  }
  return { block: { kind: 'quote', blocks: parseBlocks(inner, depth + 1) }, next: at };
}

function readList(lines: Lines, from: number, depth: number): Read {
  const first = ITEM.exec(lines[from] ?? '');
  const start = first?.[3] === undefined ? undefined : Number(first[3]);
  const items: (readonly NoteBlock[])[] = [];
  let at = from;
  for (;;) {
    const item = ITEM.exec(lines[at] ?? '');
    const isSameList = item !== null && (item[3] === undefined) === (start === undefined);
    if (item === null || !isSameList || RULE.test(lines[at] ?? '')) break;
    const { inner, next } = itemLines(lines, at, item);
    items.push(parseBlocks(inner, depth + 1));
    at = next;
  }
  return { block: { kind: 'list', start, items }, next: at };
}

/** The lines of one item: its own, the indented ones below it, and unindented lines that continue its text. */
function itemLines(
  lines: Lines,
  from: number,
  item: RegExpExecArray,
): { readonly inner: Lines; readonly next: number } {
  const indent = item[0].length;
  const inner = [(lines[from] ?? '').slice(indent)];
  const isIndented = (line: string) => line.startsWith(' '.repeat(Math.min(indent, 2))) && !BLANK.test(line);
  const stripped = (line: string) => line.replace(new RegExp(`^ {1,${Math.max(indent, 1)}}`), '');
  let at = from + 1;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (BLANK.test(line)) {
      // Two empty lines, or one that is followed by a line without indentation, end the item.
      if (!isIndented(lines[at + 1] ?? '')) break;
      inner.push('');
    } else if (isIndented(line)) inner.push(stripped(line));
    else if (startsBlock(line) || BLANK.test(inner.at(-1) ?? '')) break;
    else inner.push(line);
  }
  const next = BLANK.test(lines[at] ?? '') && ITEM.test(lines[at + 1] ?? '') ? at + 1 : at;
  return { inner, next };
}

function readParagraph(lines: Lines, from: number, depth: number): Read {
  let at = from + 1;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (UNDERLINE.test(line)) {
      const content = parseInlines(textOf(lines.slice(from, at)));
      return { block: { kind: 'heading', level: line.includes('=') ? 1 : 2, content }, next: at + 1 };
    }
    if (BLANK.test(line) || (startsBlock(line) && depth < DEPTH_MAX)) break;
    at += 1;
  }
  return { block: { kind: 'paragraph', content: parseInlines(textOf(lines.slice(from, at))) }, next: at };
}

/** Spaces at the start of a line have no meaning; two at its end are a line break. */
function textOf(lines: Lines): string {
  return lines
    .map((line) => line.trimStart())
    .join('\n')
    .trim();
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}
