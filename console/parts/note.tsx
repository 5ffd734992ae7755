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
      return (
        <p className="note-heading">
          <Inlines content={block.content} />
        </p>
      );
    case 'paragraph':
      return (
        <p>
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
              <tr>
                {head.map((cell, i) => (
                  <th key={i} scope="col">
                    <Inlines content={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, r) => (
                <tr key={r}>
                  {row.map((cell, i) => (
                    <td key={i}>
                      <Inlines content={cell} />
                    </td>
                  ))}
                </tr>
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

function Inlines({ content }: { readonly content: readonly NoteInline[] }) {
  return content.map((inline, i) => <Inline key={i} inline={inline} />);
}

function Inline({ inline }: { readonly inline: NoteInline }): React.JSX.Element {
  switch (inline.kind) {
    case 'text':
      return <>{visibleText(inline.text)}</>;
    case 'code':
      return <code>{visibleText(inline.text)}</code>;
    case 'strong':
      return (
        <strong>
          <Inlines content={inline.content} />
        </strong>
      );
    case 'emphasis':
      return (
        <em>
          <Inlines content={inline.content} />
        </em>
      );
    case 'deleted':
      return (
        <del>
          <Inlines content={inline.content} />
        </del>
      );
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
