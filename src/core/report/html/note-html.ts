import { unreachable } from '../../assert.ts';
import type { NoteBlock, NoteInline } from '../note/note.ts';
import { parseNote } from '../note/parse-note.ts';
import { escapeHtml, textHtml } from './escape-html.ts';

/**
 * A note as HTML. This does not use a Markdown library, because those pass HTML through: here every tag is one of the
 * few below, and all text of the note is escaped.
 */
export function noteHtml(markdown: string): string {
  return blocksHtml(parseNote(markdown));
}

function blocksHtml(blocks: readonly NoteBlock[]): string {
  return blocks.map(blockHtml).join('\n');
}

function blockHtml(block: NoteBlock): string {
  switch (block.kind) {
    case 'heading': {
      // The page uses four levels of headings; headings of notes come below them.
      const tag = block.level <= 2 ? 'h5' : 'h6';
      return `<${tag}>${inlinesHtml(block.content)}</${tag}>`;
    }
    case 'paragraph':
      return `<p>${inlinesHtml(block.content)}</p>`;
    case 'code':
      return `<pre tabindex="0"><code>${textHtml(block.text)}</code></pre>`;
    case 'quote':
      return `<blockquote>${blocksHtml(block.blocks)}</blockquote>`;
    case 'list': {
      const items = block.items.map((item) => `<li>${itemHtml(item)}</li>`).join('');
      return block.start === undefined ? `<ul>${items}</ul>` : `<ol start="${block.start}">${items}</ol>`;
    }
    case 'table':
      return tableHtml(block.rows);
    case 'rule':
      return '<hr>';
    default:
      return unreachable(block);
  }
}

/** An item of one paragraph is written without the paragraph element. */
function itemHtml(blocks: readonly NoteBlock[]): string {
  const [first, ...more] = blocks;
  if (first?.kind !== 'paragraph') return blocksHtml(blocks);
  return `${inlinesHtml(first.content)}${blocksHtml(more)}`;
}

function tableHtml(rows: readonly (readonly (readonly NoteInline[])[])[]): string {
  const [head = [], ...body] = rows;
  const cells = (row: readonly (readonly NoteInline[])[], tag: 'th' | 'td') =>
    `<tr>${row.map((cell) => `<${tag}>${inlinesHtml(cell)}</${tag}>`).join('')}</tr>`;
  const lines = body.map((row) => cells(row, 'td')).join('');
  return `<div class="wide" tabindex="0"><table><thead>${cells(head, 'th')}</thead><tbody>${lines}</tbody></table></div>`;
}

function inlinesHtml(content: readonly NoteInline[]): string {
  return content.map(inlineHtml).join('');
}

function inlineHtml(inline: NoteInline): string {
  switch (inline.kind) {
    case 'text':
      return textHtml(inline.text);
    case 'code':
      return `<code>${textHtml(inline.text)}</code>`;
    case 'strong':
      return `<strong>${inlinesHtml(inline.content)}</strong>`;
    case 'emphasis':
      return `<em>${inlinesHtml(inline.content)}</em>`;
    case 'deleted':
      return `<del>${inlinesHtml(inline.content)}</del>`;
    case 'link':
      return `<a href="${escapeHtml(inline.href)}" rel="noopener noreferrer nofollow">${inlinesHtml(inline.content)}</a>`;
    case 'break':
      return '<br>';
    default:
      return unreachable(inline);
  }
}
