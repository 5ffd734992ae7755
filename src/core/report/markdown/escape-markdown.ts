import { visibleLine } from '../../text/visible-text.ts';

/** Characters that have a meaning anywhere: emphasis, code, links, HTML, tables, formulas, entities. */
const ALWAYS = /[\\`*[\]<>|~$]|_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])_|&(?=#?\w{1,32};)/gu;
/** Characters that have a meaning only at the start of a line. */
const AT_START = /^([ \t]*\d{1,9}|[ \t]*)(?:(?<=\d)[.)]|(?<!\d)[#+=:-])/gm;

/** Escapes a text for the middle of a line. */
export function escapeSigns(text: string): string {
  return text.replaceAll(ALWAYS, (character) => `\\${character}`);
}

/** Escapes the starts of lines, so that all of them are paragraph text. */
export function escapeStarts(lines: string): string {
  return lines.replaceAll(AT_START, (start) => `${start.slice(0, -1)}\\${start.slice(-1)}`);
}

/** A text on one line, for headings, cells and list items. */
export function markdownLine(text: string): string {
  return escapeStarts(escapeSigns(visibleLine(text)));
}

/** A code span with any text. */
export function codeSpan(text: string): string {
  const inner = text.replaceAll('\n', ' ');
  if (inner.trim() === '') return '` `';
  const fence = '`'.repeat(longestRun(inner) + 1);
  const pad = inner.startsWith('`') || inner.endsWith('`') || fence.length > 1 ? ' ' : '';
  return `${fence}${pad}${inner}${pad}${fence}`;
}

/** A code block with any text. */
export function codeBlock(text: string, language: string): readonly string[] {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return [`${fence}${language}`, ...text.split('\n'), fence];
}

function longestRun(text: string): number {
  let longest = 0;
  for (const { 0: run } of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
