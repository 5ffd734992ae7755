import { useMemo } from 'react';
import type { NoteBlock, NoteInline } from '../../src/core/report/note/note.ts';
import { parseNote } from '../../src/core/report/note/parse-note.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';

/** A note of an agent. It becomes elements, never HTML, so nothing in it can run or leave its place. */
export function Note({ text }: { readonly text: string }) {
  const blocks = useMemo(() => parseNote(text), [text]);
  return (
    <div className="note">
      <Blocks blocks={blocks} />
    </div>
  );
}

function Blocks({ blocks }: { readonly blocks: readonly NoteBlock[] }) {
  return blocks.map((block, i) => <Block key={i} block={block} />);
}

function Block({ block }: { readonly block: NoteBlock }): React.JSX.Element {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return (
        <p className={block.kind === 'heading' ? 'note-heading' : undefined}>
          <Inlines content={block.content} />
        </p>
      );
    case 'code':
      return <pre tabIndex={0}>{visibleText(block.text)}</pre>;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list': {
      const items = block.items.map((item, i) => (
        <li key={i}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case 'table': {
      const [head = [], ...rows] = block.rows;
      return (
        <div className="wide" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <Cells row={head} Cell="th" />
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <Cells key={i} row={row} Cell="td" />
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case 'rule':
      return <hr />;
  }
}

function Cells({ row, Cell }: { readonly row: readonly (readonly NoteInline[])[]; readonly Cell: 'th' | 'td' }) {
  return (
    <tr>
      {row.map((cell, i) => (
        <Cell key={i} scope={Cell === 'th' ? 'col' : undefined}>
          <Inlines content={cell} />
        </Cell>
      ))}
    </tr>
  );
}

function Inlines({ content }: { readonly content: readonly NoteInline[] }) {
  return content.map((inline, i) => <Inline key={i} inline={inline} />);
}

const TAGS = { strong: 'strong', emphasis: 'em', deleted: 'del' } as const;

function Inline({ inline }: { readonly inline: NoteInline }): React.JSX.Element {
  switch (inline.kind) {
    case 'text':
      return <>{visibleText(inline.text)}</>;
    case 'code':
      return <code>{visibleText(inline.text)}</code>;
    case 'strong':
    case 'emphasis':
    case 'deleted': {
      const Tag = TAGS[inline.kind];
      return (
        <Tag>
          <Inlines content={inline.content} />
        </Tag>
      );
    }
    case 'link':
      return (
        <a href={inline.href} rel="noopener noreferrer nofollow" target="_blank">
          <Inlines content={inline.content} />
        </a>
      );
    case 'break':
      return <br />;
  }
}
