import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { ChangeSpec, EditorState, Text } from '@codemirror/state';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

/** A step as it is written in a file, with the steps of its loop. */
export type WrittenStep = {
  readonly id: string;
  readonly title: string;
  /** What it is, if it is not a plain step. */
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly body: readonly WrittenStep[];
};

/** How lines end. In a file that mixes both, a carriage return is a character like others. */
export function lineBreakOf(text: string): '\n' | '\r\n' {
  const breaks = text.split('\n').length - 1;
  return breaks > 0 && text.split('\r\n').length - 1 === breaks ? '\r\n' : '\n';
}

/** The position in the editor of a place in the text, where a line break may have two characters. */
export function editorPosition({ doc, lineBreak }: EditorState, offset: number): number {
  if (lineBreak.length === 1) return Math.min(offset, doc.length);
  let [low, high] = [1, doc.lines];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (doc.line(middle).from + middle - 1 <= offset) low = middle;
    else high = middle - 1;
  }
  return Math.min(offset - (low - 1), doc.length);
}

/** The place in the text of a position in the editor. */
export function textOffset({ doc, lineBreak }: EditorState, position: number): number {
  return position + (doc.lineAt(position).number - 1) * (lineBreak.length - 1);
}

/** Where a finding is marked: from its column to the end of the value there, on one line. */
export function rangeAt(state: EditorState, place: { readonly line: number; readonly column: number }) {
  const line = state.doc.line(Math.min(Math.max(1, place.line), state.doc.lines));
  const from = Math.min(line.from + Math.max(0, place.column - 1), line.to);
  const { to } = syntaxTree(state).resolveInner(from, 1);
  return { from, to: Math.max(from, Math.min(to, line.to)) };
}

const PARSE_MS_MAX = 200;

/** The object that a file is. The editor itself reads only as far as it shows. */
function wholeFile(state: EditorState): SyntaxNode | null {
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS_MAX) ?? syntaxTree(state);
  return tree.topNode.getChild('Object');
}

/** The steps as they are written. What cannot be made out yet is left out. */
export function outlineOf(state: EditorState): readonly WrittenStep[] {
  const root = wholeFile(state);
  return stepsIn(state.doc, root, 'steps');
}

function stepsIn(doc: Text, object: SyntaxNode | null, key: string): readonly WrittenStep[] {
  const list = object && valueUnder(doc, object, key);
  return (list?.getChildren('Object') ?? []).map((step) => ({
    id: textOf(doc, step, 'id'),
    title: textOf(doc, step, 'title') || textOf(doc, step, 'id') || 'A step without a title',
    type: textOf(doc, step, 'type'),
    from: step.from,
    to: step.to,
    body: stepsIn(doc, step, 'body'),
  }));
}

/** The value of a key, if it is there. */
function valueUnder(doc: Text, object: SyntaxNode, key: string): SyntaxNode | null {
  const property = object.getChildren('Property').find((one) => {
    const name = one.getChild('PropertyName');
    return name !== null && doc.sliceString(name.from, name.to) === `"${key}"`;
  });
  return property?.lastChild ?? null;
}

function textOf(doc: Text, object: SyntaxNode, key: string): string {
  const value = valueUnder(doc, object, key);
  if (value?.name !== 'String') return '';
  try {
    return String(JSON.parse(doc.sliceString(value.from, value.to)));
  } catch {
    return '';
  }
}

/** The id of the workflow as it is written. */
export function writtenId(state: EditorState): string {
  const root = wholeFile(state);
  return root === null ? '' : textOf(state.doc, root, 'id');
}

/** Exchanges a step with the next one. Nothing else in the file changes. */
export function exchanged(doc: Text, first: WrittenStep, second: WrittenStep): ChangeSpec {
  const textOfStep = ({ from, to }: WrittenStep) => doc.slice(from, to);
  return [
    { from: first.from, to: first.to, insert: textOfStep(second) },
    { from: second.from, to: second.to, insert: textOfStep(first) },
  ];
}

/** The list that a step stands in, and its place there. */
export function siblingsOf(
  steps: readonly WrittenStep[],
  step: WrittenStep,
): { readonly list: readonly WrittenStep[]; readonly at: number } | undefined {
  const at = steps.findIndex(({ from }) => from === step.from);
  if (at !== -1) return { list: steps, at };
  for (const { body } of steps) {
    const found = siblingsOf(body, step);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The innermost step around a position. */
export function stepAround(steps: readonly WrittenStep[], position: number): WrittenStep | undefined {
  const step = steps.find(({ from, to }) => from <= position && position <= to);
  return step && (stepAround(step.body, position) ?? step);
}

/** Text to put at the end of the list under a key of the whole file, with a comma if something stands before it. */
export function appended(state: EditorState, key: string, text: string): ChangeSpec | undefined {
  const root = wholeFile(state);
  const list = root && valueUnder(state.doc, root, key);
  if (list?.name !== 'Array') return undefined;
  const last = list.getChildren('Object').at(-1);
  const lines = text.replaceAll('\n', '\n    ');
  if (last === undefined) return { from: list.from + 1, to: list.to - 1, insert: `\n    ${lines}\n  ` };
  return { from: last.to, insert: `,\n    ${lines}` };
}
