import { assert } from '../../assert.ts';
import type { NoteInline } from './note.ts';

const SCHEME = /^(?:https?:\/\/|mailto:)/i;
/** What must be escaped in an address: white space, controls, and quotes and brackets that end an attribute or a link. */
const UNFIT = /[\s\p{Cc}\p{Cf}\p{Bidi_Control}"'`<>\\^{}|]/u;
const LENGTH_MAX = 2_000;

/** An address that a report may link to: web and mail only, nothing that runs code or reads files. */
function safeHref(address: string): string | undefined {
  const isFit = address.length <= LENGTH_MAX && SCHEME.test(address) && !UNFIT.test(address);
  return isFit ? address : undefined;
}

/** Marks that are nested deeper are text, so that the time to parse a note grows only with its length. */
const DEPTH_MAX = 24;

/** An open mark and the content after it. */
type Frame = { readonly mark: string; readonly content: NoteInline[] };

type Scan = {
  readonly text: string;
  at: number;
  readonly frames: Frame[];
  /** For each run of backticks, the position of the next one of the same length. */
  readonly closings: ReadonlyMap<number, number>;
};

/** Parses the code, emphasis, links and line breaks of one paragraph. Everything else is text. */
export function parseInlines(text: string): readonly NoteInline[] {
  const root: Frame = { mark: '', content: [] };
  const scan: Scan = { text, at: 0, frames: [root], closings: closingBackticks(text) };
  while (scan.at < text.length) step(scan);
  closeDownTo(scan, 0);
  return root.content;
}

const PLAIN = /[^\\`*_~[\]!<\n h]+|h(?!ttps?:\/\/)| +(?!\n)/y;
const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const BREAK = /(?: {2,}|\\)\n/y;
const BACKTICKS = /`+/y;
const OPENING = /!?\[/y;
const MARK = /\*{1,3}|_{1,3}|~~/y;
const ANGLED = /<([a-z]+:[^\s<>]{1,2000})>/iy;
const BARE = /https?:\/\/[^\s<>"'`*|\\^{}[\]]{1,2000}/iy;
const TARGET =
  /\]\([ \t]{0,8}(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?))(?:[ \t\n]{1,8}"[^"\n]{0,500}")?[ \t]{0,8}\)/y;

/** Lets the first reader that matches consume the next characters. A character that no reader matches is text. */
function step(scan: Scan): void {
  const isRead = READERS.some((read) => read(scan));
  if (isRead) return;
  addText(scan, scan.text.charAt(scan.at));
  scan.at += 1;
}

/** Returns whether it consumed something. */
type Reader = (scan: Scan) => boolean;

const READERS: readonly Reader[] = [
  (scan) => taken(scan, BREAK, () => top(scan).content.push({ kind: 'break' })),
  (scan) => taken(scan, PLAIN, ([text]) => addText(scan, text)),
  (scan) => taken(scan, ESCAPED, ([, character = '']) => addText(scan, character)),
  readCode,
  (scan) => taken(scan, ANGLED, ([, address = '']) => addLink(scan, address)),
  (scan) =>
    taken(scan, BARE, ([bare]) => {
      // Punctuation after an address belongs to the sentence.
      const address = bare.replace(/[.,;:!?)]{1,8}$/, '');
      scan.at -= bare.length - address.length;
      addLink(scan, address);
    }),
  closeBracket,
  openBracket,
  (scan) => {
    const at = scan.at;
    return taken(scan, MARK, ([mark]) => readMark(scan, mark, at));
  },
];

function taken(scan: Scan, pattern: RegExp, use: (match: RegExpExecArray) => void): boolean {
  const match = take(scan, pattern);
  if (match !== undefined) use(match);
  return match !== undefined;
}

function take(scan: Scan, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = scan.at;
  const match = pattern.exec(scan.text) ?? undefined;
  if (match !== undefined) scan.at += match[0].length;
  return match;
}

function readCode(scan: Scan): boolean {
  const from = scan.at;
  const ticks = take(scan, BACKTICKS)?.[0];
  if (ticks === undefined) return false;
  const closing = scan.closings.get(from);
  if (closing === undefined) {
    addText(scan, ticks);
    return true;
  }
  const text = scan.text.slice(scan.at, closing).replaceAll('\n', ' ');
  const isPadded = text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '';
  top(scan).content.push({ kind: 'code', text: isPadded ? text.slice(1, -1) : text });
  scan.at = closing + ticks.length;
  return true;
}

/** A mark closes after a word and opens before one; inside words only `*` counts. */
function readMark(scan: Scan, mark: string, at: number): void {
  const before = scan.text.charAt(at - 1);
  const after = scan.text.charAt(scan.at);
  const isInWord = mark.startsWith('_') && /[\p{L}\p{N}_]/u.test(before) && /[\p{L}\p{N}_]/u.test(after);
  const opened = scan.frames.findLastIndex((frame) => frame.mark === mark);
  if (opened > 0 && /\S/.test(before) && !isInWord) {
    closeDownTo(scan, opened);
    const frame = scan.frames.pop();
    assert(frame !== undefined, 'a closed mark was open');
    top(scan).content.push(marked(mark, frame.content));
  } else if (/\S/.test(after) && !isInWord && scan.frames.length < DEPTH_MAX) {
    scan.frames.push({ mark, content: [] });
  } else addText(scan, mark);
}

function marked(mark: string, content: readonly NoteInline[]): NoteInline {
  if (mark === '~~') return { kind: 'deleted', content };
  if (mark.length === 1) return { kind: 'emphasis', content };
  return { kind: 'strong', content: mark.length === 2 ? content : [{ kind: 'emphasis', content }] };
}

function openBracket(scan: Scan): boolean {
  const mark = take(scan, OPENING)?.[0];
  if (mark === undefined) return false;
  if (scan.frames.length < DEPTH_MAX) scan.frames.push({ mark, content: [] });
  else addText(scan, mark);
  return true;
}

/** An image becomes a link, because a report loads nothing. A link that is not safe becomes its text. */
function closeBracket(scan: Scan): boolean {
  if (scan.text[scan.at] !== ']') return false;
  const { frames } = scan;
  const opened = frames.findLastIndex(({ mark }) => mark === '[' || mark === '![');
  const target = opened > 0 ? take(scan, TARGET) : undefined;
  if (target === undefined) {
    scan.at += 1;
    if (opened > 0) closeDownTo(scan, opened - 1);
    addText(scan, ']');
    return true;
  }
  closeDownTo(scan, opened);
  const frame = frames.pop();
  assert(frame !== undefined, 'a closed mark was open');
  const image: readonly NoteInline[] = frame.mark === '![' ? [{ kind: 'text', text: 'image: ' }] : [];
  const content = [...image, ...frame.content];
  const href = safeHref(target[1] ?? target[2] ?? '');
  if (href === undefined) addAll(scan, content);
  else top(scan).content.push({ kind: 'link', href, content: withoutLinks(content) });
  return true;
}

function withoutLinks(content: readonly NoteInline[]): readonly NoteInline[] {
  return content.flatMap((inline) => {
    if (inline.kind === 'link') return withoutLinks(inline.content);
    return 'content' in inline ? [{ ...inline, content: withoutLinks(inline.content) }] : [inline];
  });
}

function addLink(scan: Scan, address: string): void {
  const href = safeHref(address);
  if (href === undefined) addText(scan, address);
  else top(scan).content.push({ kind: 'link', href, content: [{ kind: 'text', text: address }] });
}

function addText(scan: Scan, text: string): void {
  const { content } = top(scan);
  const last = content.at(-1);
  if (last?.kind === 'text') content[content.length - 1] = { kind: 'text', text: last.text + text };
  else content.push({ kind: 'text', text });
}

function top({ frames }: Scan): Frame {
  const frame = frames.at(-1);
  assert(frame !== undefined, 'the paragraph itself is always open');
  return frame;
}

/** Marks that were never closed are text. */
function closeDownTo(scan: Scan, position: number): void {
  const open = scan.frames.splice(position + 1);
  for (const { mark, content } of open) {
    addText(scan, mark);
    addAll(scan, content);
  }
}

function addAll(scan: Scan, content: readonly NoteInline[]): void {
  for (const inline of content) {
    if (inline.kind === 'text') addText(scan, inline.text);
    else top(scan).content.push(inline);
  }
}

function closingBackticks(text: string): ReadonlyMap<number, number> {
  const runs = [...text.matchAll(/`+/g)].reverse();
  const latest = new Map<number, number>();
  const closings = new Map<number, number>();
  for (const { 0: run, index } of runs) {
    const closing = latest.get(run.length);
    if (closing !== undefined) closings.set(index, closing);
    latest.set(run.length, index);
  }
  return closings;
}
