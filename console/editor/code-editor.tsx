import {
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  pickedCompletion,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { Finding } from '../../src/core/wire/editor-shapes.ts';
import { write } from '../state/api.ts';
import { editorPosition, lineBreakOf, rangeAt, textOffset } from './source-text.ts';

/** Findings, and the text that they are about: in another text their places and fixes would be wrong. */
export type FoundProblems = { readonly findings: readonly Finding[]; readonly of: string | undefined };

type Parts = {
  readonly label: string;
  readonly path: string;
  /** The text to begin with. Later changes go through the editor itself. */
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly isHidden: boolean;
  /** The text of the workflow, if this file is its tests: they may name its steps. */
  readonly workflow?: () => string;
  readonly found: FoundProblems;
  readonly onReady: (view: EditorView) => void;
  readonly onChange: (state: EditorState) => void;
};

/** A JSON file in an editor that marks problems, and offers what the field table knows. */
export function CodeEditor(parts: Parts) {
  const place = useRef<HTMLDivElement>(null);
  const shown = useRef<EditorView>(undefined);
  const current = useRef(parts);
  current.current = parts;
  useEffect(() => {
    const { label, path, text, isReadOnly, workflow, onReady } = current.current;
    // A built-in that is chosen on its own page is inserted where the author was.
    const cursor = `workrail-cursor ${path}`;
    const changes = EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
      if (docChanged || selectionSet) current.current.onChange(state);
      if (selectionSet) sessionStorage.setItem(cursor, String(state.selection.main.head));
    });
    const state = EditorState.create({
      doc: text,
      extensions: [
        basics(text),
        // What scrolls can be reached by keys.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        isReadOnly ? EditorState.readOnly.of(true) : [],
        fieldHelp(workflow),
        changes,
      ],
    });
    const view = new EditorView({ state, ...(place.current && { parent: place.current }) });
    const before = Number(sessionStorage.getItem(cursor) ?? 0);
    view.dispatch({ selection: { anchor: Math.min(before, state.doc.length) }, scrollIntoView: true });
    shown.current = view;
    onReady(view);
    current.current.onChange(view.state);
    return () => view.destroy();
  }, []);
  const { found, isHidden } = parts;
  useEffect(() => {
    const view = shown.current;
    if (view === undefined || view.state.sliceDoc() !== found.of) return;
    const marks = found.findings.map((finding) => marked(view.state, finding, found.of));
    view.dispatch(setDiagnostics(view.state, marks));
  }, [found]);
  return <div ref={place} className="code-editor" hidden={isHidden} />;
}

function basics(text: string): Extension {
  const lineBreak = lineBreakOf(text);
  return [
    EditorState.lineSeparator.of(lineBreak),
    // What is pasted ends its lines as the file does.
    EditorView.clipboardInputFilter.of((pasted) => pasted.replaceAll(/\r\n?|\n/g, lineBreak)),
    // The page may use only styles with this mark.
    EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''),
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    search({ top: true }),
    json(),
    syntaxHighlighting(classHighlighter),
    EditorView.lineWrapping,
    EditorState.tabSize.of(2),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}

function marked(state: EditorState, finding: Finding, of: string | undefined) {
  const { severity, message, fix, line, column } = finding;
  const actions = fix === undefined ? [] : [{ name: fix.title, apply: (view: EditorView) => applyFix(view, fix, of) }];
  return { ...rangeAt(state, { line, column }), severity, message, actions };
}

/** Makes the changes of a fix, and nothing else. A text that changed since it was checked is left alone. */
export function applyFix(view: EditorView, { edits }: NonNullable<Finding['fix']>, of: string | undefined): void {
  if (view.state.sliceDoc() !== of) return;
  const changes = edits.map(({ offset, length, text }) => ({
    from: editorPosition(view.state, offset),
    to: editorPosition(view.state, offset + length),
    insert: view.state.toText(text),
  }));
  view.dispatch({ changes, scrollIntoView: true });
  view.focus();
}

/** Completion and hover from the description of the file's fields, which also holds for what is not finished. */
function fieldHelp(workflow: Parts['workflow']): Extension {
  const suggestions = async (state: EditorState, position: number) => {
    const asked = { text: state.sliceDoc(), offset: textOffset(state, position) };
    const found = await write('suggest', {}, { ...asked, ...(workflow && { workflow: workflow() }) });
    return { ...found, from: editorPosition(state, found.from), to: editorPosition(state, found.to) };
  };
  return [
    autocompletion({
      override: [
        async (context: CompletionContext) => {
          const { state, pos } = context;
          if (!context.explicit && context.matchBefore(/"[\w.-]*/) === null) return null;
          const { from, to, options } = await suggestions(state, pos).catch(() => NOTHING);
          if (options.length === 0) return null;
          const written = state.sliceDoc(from, pos).replaceAll('"', '').toLowerCase();
          const fitting = bestFirst(options, written);
          return {
            from,
            to,
            filter: false,
            options: fitting.map(({ label, insert, says, isNeeded }) => ({
              label,
              apply: (...picked: Picked) => complete(insert, picked),
              detail: isNeeded ? 'required' : '',
              info: says,
            })),
          };
        },
      ],
    }),
    hoverTooltip(async ({ state }, pos) => {
      const { field, from, to } = await suggestions(state, pos).catch(() => NOTHING);
      if (field === undefined || pos < from || pos > to) return null;
      return {
        pos: from,
        end: to,
        create: () => {
          const dom = document.createElement('div');
          dom.className = 'field-help';
          const lines = [`${field.name}: ${field.says}`, field.accepts === '' ? '' : `Takes ${field.accepts}.`];
          dom.append(...lines.map((line) => Object.assign(document.createElement('p'), { textContent: line })));
          return { dom };
        },
      };
    }),
  ];
}

/** Those that have the typed letters, first those that begin with them; otherwise in the order of the field table. */
function bestFirst<Option extends { readonly label: string }>(options: readonly Option[], typed: string) {
  const begins = ({ label }: Option) => label.toLowerCase().startsWith(typed);
  const fitting = options.filter(({ label }) => label.toLowerCase().includes(typed));
  return [...fitting.filter(begins), ...fitting.filter((one) => !begins(one))];
}

type Picked = readonly [view: EditorView, completion: Completion, from: number, to: number];

/** Puts in what was chosen. An empty value gets the cursor, and what fits there is offered at once; a number is selected. */
function complete(insert: string, [view, completion, from, to]: Picked): void {
  const isEmpty = /(?:""|{}|\[])$/.test(insert);
  const end = from + insert.length - (isEmpty ? 1 : 0);
  const [number] = /\d+$/.exec(insert) ?? [];
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: end - (number?.length ?? 0), head: end },
    annotations: pickedCompletion.of(completion),
    userEvent: 'input.complete',
    scrollIntoView: true,
  });
  if (isEmpty) startCompletion(view);
}

const NOTHING = { from: 0, to: 0, options: [], field: undefined };
