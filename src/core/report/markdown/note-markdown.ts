import { unreachable } from '../../assert.ts';
import { isBareLink, type NoteBlock, type NoteInline } from '../note/note.ts';
import { parseNote } from '../note/parse-note.ts';
import { codeBlock, codeSpan, escapeSigns, escapeStarts } from './escape-markdown.ts';

/**
 * A note written again as a quotation. Only parsed Markdown is written as Markdown and everything else as text, so that
 * nothing in a note can become a heading of the report, end the quotation, or be HTML.
 */
export function noteMarkdown(markdown: string): readonly string[] {
  return quoted(blockLines(parseNote(markdown), QUOTED));
}

/** The Markdown of blocks. Parsing it again gives the same blocks. */
export function blocksSource(blocks: readonly NoteBlock[]): string {
  return blockLines(blocks, SOURCE).join('\n');
}

/** How to write the blocks that a quotation must not contain. */
type Dialect = { readonly heading: (text: string, level: number) => string; readonly rule: string };

const QUOTED: Dialect = { heading: (text) => `**${text}**`, rule: '\\* \\* \\*' };
const SOURCE: Dialect = {
  heading: (text, level) => `${'#'.repeat(level)} ${text.replace(/#$/, '\\#')}`,
  rule: '***',
};

function quoted(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '>' : `> ${line}`));
}

function blockLines(blocks: readonly NoteBlock[], dialect: Dialect): readonly string[] {
  return blocks.flatMap((block, i) => [...(i === 0 ? [] : ['']), ...linesOf(block, dialect)]);
}

function linesOf(block: NoteBlock, dialect: Dialect): readonly string[] {
  switch (block.kind) {
    case 'heading':
      return [dialect.heading(oneLine(block.content.flatMap(unmarked)), block.level)];
    case 'paragraph':
      return escapeStarts(inlines(block.content)).split('\n');
    case 'code':
      return codeBlock(block.text, block.language);
    case 'quote':
      return quoted(blockLines(block.blocks, dialect));
    case 'list':
      return block.items.flatMap((item, i) => {
        const sign = block.start === undefined ? '- ' : `${block.start + i}. `;
        const [first = '', ...more] = blockLines(item, dialect);
        return [`${sign}${first}`, ...more.map((line) => (line === '' ? '' : `${' '.repeat(sign.length)}${line}`))];
      });
    case 'table': {
      const [head = [], ...rows] = block.rows;
      const row = (cells: readonly (readonly NoteInline[])[]) =>
        `| ${cells.map((cell) => oneLine(cell.map(withBars))).join(' | ')} |`;
      return [row(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(row)];
    }
    case 'rule':
      return [dialect.rule];
    default:
      return unreachable(block);
  }
}

function oneLine(content: readonly NoteInline[]): string {
  return inlines(content).replaceAll(/\\?\n/g, ' ');
}

/** A heading becomes strong as a whole, so nothing inside it may be strong. */
function unmarked(part: NoteInline): readonly NoteInline[] {
  if (part.kind === 'strong' || part.kind === 'emphasis') return part.content.flatMap(unmarked);
  return 'content' in part ? [{ ...part, content: part.content.flatMap(unmarked) }] : [part];
}

/** Inside a table, a bar in code ends the cell unless it is escaped. */
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
      return isBareLink(part) ? `<${part.href}>` : `[${inlines(part.content)}](<${part.href}>)`;
    case 'break':
      return '\\\n';
    default:
      return unreachable(part);
  }
}
