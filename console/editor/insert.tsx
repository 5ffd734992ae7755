import { syntaxTree } from '@codemirror/language';
import type { EditorView } from '@codemirror/view';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, CommandHint, Pending } from '../parts/panels.tsx';
import { read } from '../state/api.ts';
import type { EditedFile } from './edited-file.ts';

type Parts = {
  /** The workflow. Built-ins have no place in its tests. */
  readonly file: EditedFile;
  readonly isReadOnly: boolean;
  /** The built-in that was chosen on its own page. */
  readonly chosen: string | undefined;
  readonly onShow: (file: EditedFile) => void;
};

/** The built-ins by the words in them. One is put where the cursor is. */
export function Insert({ file, isReadOnly, chosen, onShow }: Parts) {
  const [words, setWords] = useState(chosen ?? '');
  const { data, error } = useQuery({ queryKey: ['builtins'], queryFn: () => read('builtins'), staleTime: Infinity });
  if (data === undefined) return <Pending words="Reading the built-ins …" error={error} />;
  const wanted = words.toLowerCase().split(/\s+/);
  const found = data.builtins.filter(({ id, kind, purpose }) => {
    const text = `${kind} ${id} ${purpose}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return (
    <>
      <CommandHint command="workrail workflow builtins" />
      <input
        type="search"
        aria-label="Find a built-in"
        placeholder="contract, feature, ref, template …"
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      <ul className="plain">
        {found.map(({ kind, id, purpose, insert }) => (
          <li key={`${kind} ${id}`} className="problem">
            <p>
              <span className="badge">{kind}</span> <span className="strong break">{id}</span>
            </p>
            <p className="meta">{purpose}</p>
            {!isReadOnly && (
              <Button
                label="Insert at the cursor"
                aria-label={`Insert at the cursor: ${id}`}
                onClick={() => {
                  onShow(file);
                  insertAt(file.view(), insert);
                }}
              />
            )}
            <details>
              <summary className="meta">What is inserted</summary>
              <pre>{insert}</pre>
            </details>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>No built-in has these words.</p>}
    </>
  );
}

/** Puts a built-in where the cursor is, with the commas that JSON needs. A word is not torn apart. */
function insertAt(view: EditorView | undefined, json: string): void {
  if (view === undefined) return;
  const { state } = view;
  const { at, isInList } = gapAfter(state, state.selection.main.head);
  const before = state.sliceDoc(0, at).trimEnd().at(-1) ?? '';
  const after = state.sliceDoc(at).trimStart().charAt(0);
  const indent = /^\s*/.exec(state.doc.lineAt(at).text)?.[0] ?? '';
  const isFirst = before === '' || '{[,:'.includes(before);
  const isLast = after === '' || '}],'.includes(after);
  const text = isInList ? json : fieldsOf(json);
  const insert = `${isFirst ? '' : ',\n'}${text}${isLast ? '' : ','}`.replaceAll('\n', `${state.lineBreak}${indent}`);
  view.dispatch({
    changes: { from: at, insert: state.toText(insert) },
    selection: { anchor: at },
    scrollIntoView: true,
  });
  view.focus();
}

/** What stands in an object: the fields of one, or the list that a name belongs in. */
function fieldsOf(json: string): string {
  const value = JSON.parse(json) as object | string;
  const whole = typeof value === 'string' ? { features: [value] } : value;
  return JSON.stringify(whole, null, 2)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.slice(2))
    .join('\n');
}

/** The first place at or after a position that is not inside a word, or between a key and its value. */
function gapAfter(state: EditorView['state'], position: number): { readonly at: number; readonly isInList: boolean } {
  let node = syntaxTree(state).resolveInner(position, 0);
  let at = position;
  while (!['Object', 'Array', 'JsonText'].includes(node.name) && node.parent !== null) {
    at = node.to;
    node = node.parent;
  }
  return { at, isInList: node.name === 'Array' };
}
