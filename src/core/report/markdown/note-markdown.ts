import { unreachable } from '../../assert.ts';
import type { NoteBlock, NoteInline } from '../note/note.ts';
import { parseNote } from '../note/parse-note.ts';
import { codeBlock, codeSpan, escapeSigns, escapeStarts } from './escape-markdown.ts';

/**
 * A note written anew, as a quotation. Only what was understood is written, and all else as text, so that nothing in it
 * can be a heading of the report, end the quotation, or be HTML, whoever reads it.
 */
export function noteMarkdown(markdown: string): readonly string[] {
  return quoted(blockLines(parseNote(markdown), QUOTED));
}

/** Blocks as the note that says them. Read again, it gives the same. */
export function blocksSource(blocks: readonly NoteBlock[]): string {
  return blockLines(blocks, SOURCE).join('\n');
}

/** How that is written which a quotation may not hold. */
type Manner = { readonly heading: (text: string, level: number) => string; readonly rule: string };

const QUOTED: Manner = { heading: (text) => `**${text}**`, rule: '\\* \\* \\*' };
const SOURCE: Manner = {
  heading: (text, level) => `${'#'.repeat(level)} ${text.replace(/#$/, '\\#')}`,
  rule: '***',
};

function quoted(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '>' : `> ${line}`));
}

function blockLines(blocks: readonly NoteBlock[], manner: Manner): readonly string[] {
  return blocks.flatMap((block, i) => [...(i === 0 ? [] : ['']), ...linesOf(block, manner)]);
}

function linesOf(block: NoteBlock, manner: Manner): readonly string[] {
  switch (block.kind) {
    case 'heading':
      return [manner.heading(oneLine(block.content.flatMap(unmarked)), block.level)];
    case 'paragraph':
      return escapeStarts(inlines(block.content)).split('\n');
    case 'code':
      return codeBlock(block.text, block.language);
    case 'quote':
      return quoted(blockLines(block.blocks, manner));
    case 'list':
      return block.items.flatMap((item, i) => {
        const sign = block.start === undefined ? '- ' : `${block.start + i}. `;
        const [first = '', ...more] = blockLines(item, manner);
        return [`${sign}${first}`, ...more.map((line) => (line === '' ? '' : `${' '.repeat(sign.length)}${line}`))];
      });
    case 'table': {
      const [head = [], ...rows] = block.rows;
      const row = (cells: readonly (readonly NoteInline[])[]) =>
        `| ${cells.map((cell) => oneLine(cell.map(withBars))).join(' | ')} |`;
      return [row(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(row)];
    }
    case 'rule':
      return [manner.rule];
    default:
      return unreachable(block);
  }
}

function oneLine(content: readonly NoteInline[]): string {
  return inlines(content).replaceAll(/\\?\n/g, ' ');
}

/** A heading becomes strong as a whole, so that nothing in it can be. */
function unmarked(part: NoteInline): readonly NoteInline[] {
  if (part.kind === 'strong' || part.kind === 'emphasis') return part.content.flatMap(unmarked);
  return 'content' in part ? [{ ...part, content: part.content.flatMap(unmarked) }] : [part];
}

/** A bar in code ends a cell unless it is escaped, there and only there. */
function withBars(part: NoteInline): NoteInline {
  if (part.kind === 'code') return { ...part, text: part.text.replaceAll('|', '\\|') };
  return 'content' in part ? { ...part, content: part.content.map(withBars) } : part;
}

function inlines(content: readonly NoteInline[]): string {
  return content.map(inline).join('');
}

function inline(part: NoteInline): string {
  switch (part.kind) {
    case 'text':
      return escapeSigns(part.text);
    case 'code':
      return codeSpan(part.text);
    case 'strong':
      return `**${inlines(part.content)}**`;
    case 'emphasis':
      return `*${inlines(part.content)}*`;
    case 'deleted':
      return `~~${inlines(part.content)}~~`;
    case 'link':
      return isBare(part) ? `<${part.href}>` : `[${inlines(part.content)}](<${part.href}>)`;
    case 'break':
      return '\\\n';
    default:
      return unreachable(part);
  }
}

/** An address that is its own text. */
function isBare({ href, content }: Extract<NoteInline, { kind: 'link' }>): boolean {
  const [only, ...more] = content;
  return more.length === 0 && only?.kind === 'text' && only.text === href;
}
