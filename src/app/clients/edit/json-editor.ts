import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type SyntaxKind,
} from 'jsonc-parser';
import type { JsonObject, JsonValue } from '../../../core/json/json-value.ts';
import { parseLenientJson } from '../../../core/json/lenient-json.ts';
import type { FileTrouble } from '../../ports/machine.ts';
import { type Edited, type EntryEditor, type EntryPlace, lineAt } from './entry-editor.ts';

// The library declares these as a const enum, which only its own compilation can use.
const COMMA: SyntaxKind = 5;
const LINE_BREAK: SyntaxKind = 14;
const END: SyntaxKind = 17;

export type Property = { readonly key: string; readonly value: JsonValue };

/**
 * Adds a property at the end of an object. The library's `modify` would move a trailing comment of the last property to
 * the new one, and reformat its neighbours.
 */
export function insertProperty(text: string, object: Node, { key, value }: Property): readonly Edit[] {
  const style = styleOf(text, object);
  const last = object.children?.at(-1);
  if (style === undefined) {
    const written = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
    return last === undefined
      ? [insertion(object.offset + 1, written)]
      : [insertion(endOf(last), hasComma(text, last) ? '' : ','), insertion(afterComma(text, last), written)];
  }
  const { eol, unit, outer, inner } = style;
  const lines = `${JSON.stringify(key)}: ${JSON.stringify(value, null, unit)}`.split('\n');
  const written = `${eol}${inner}${lines.join(`${eol}${inner}`)}`;
  const closing = endOf(object) - 1;
  const gap = text.slice(0, closing).length - text.slice(0, closing).trimEnd().length;
  if (last === undefined) return [{ offset: closing - gap, length: gap, content: `${written}${eol}${outer}` }];

  const end = endOfLine(text, afterComma(text, last));
  const comma = hasComma(text, last) ? [] : [insertion(endOf(last), ',')];
  // The closing brace may be on the line of the last property.
  const isClosedHere = closing < end;
  return isClosedHere
    ? [...comma, { offset: closing - gap, length: gap, content: `${written}${eol}${outer}` }]
    : [...comma, insertion(end, written)];
}

type Style = { readonly eol: string; readonly unit: string; readonly outer: string; readonly inner: string };

/** The layout of the file; `undefined` if it is all on one line. */
function styleOf(text: string, object: Node): Style | undefined {
  const isOneLine = !text.trim().includes('\n');
  if (isOneLine && text.trim() !== '{}') return undefined;
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const outer = indentAt(text, object.offset);
  const first = object.children?.[0];
  const isOnOwnLine = first !== undefined && /(?:^|\n)[ \t]*$/.test(text.slice(0, first.offset));
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    unit,
    outer,
    inner: isOnOwnLine ? indentAt(text, first.offset) : `${outer}${unit}`,
  };
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function hasComma(text: string, last: Node): boolean {
  return afterComma(text, last) > endOf(last);
}

/** The offset after the comma that follows a property, or after the property if there is none. */
function afterComma(text: string, last: Node): number {
  const scanner = createScanner(text, true);
  scanner.setPosition(endOf(last));
  return scanner.scan() === COMMA ? scanner.getPosition() : endOf(last);
}

/** The end of the line including a trailing comment, or the end of a comment that spans lines. */
function endOfLine(text: string, offset: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  for (;;) {
    const token = scanner.scan();
    if (token === END || token === LINE_BREAK) return scanner.getTokenOffset();
  }
}

function insertion(offset: number, content: string): Edit {
  return { offset, length: 0, content };
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Edits JSON with comments. */
export const jsonEditor: EntryEditor = {
  find: (text, place) => {
    const read = readTree(text, place);
    if ('trouble' in read) return read;
    const node = findNodeAtLocation(read.tree, [place.key, place.name]);
    return { entry: node === undefined ? undefined : getNodeValue(node) };
  },
  put: (text, place, entry) => edit(text, place, (body, tree) => putEdits(body, tree, { place, entry })),
  remove: (text, place) => edit(text, place, (body) => modify(body, [place.key, place.name], undefined, {})),
};

type Tree = { readonly body: string; readonly tree: Node };

function edit(text: string, place: EntryPlace, editsOf: (body: string, tree: Node) => readonly Edit[]): Edited {
  const read = readTree(text, place);
  if ('trouble' in read) return read;
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  return { text: `${mark}${applyEdits(read.body, [...editsOf(read.body, read.tree)])}` };
}

function readTree(text: string, { key, name }: EntryPlace): Tree | { readonly trouble: FileTrouble } {
  const given = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  // Some clients create an empty file and fill it later.
  const body = given.trim() === '' ? '{}\n' : given;
  const parsed = parseLenientJson(body);
  if (parsed.isErr()) return troubleAt(body, parsed.error.offset, parsed.error.problem);
  const tree = parsed.value;
  const servers = findNodeAtLocation(tree, [key]);
  if (servers !== undefined && servers.type !== 'object') {
    return troubleAt(body, servers.offset, `"${key}" is not an object`);
  }
  const [twice, word] = [secondOf(tree, key) ?? secondOf(servers, name), secondOf(tree, key) ? key : name];
  if (twice !== undefined) return troubleAt(body, twice.offset, `duplicate key "${word}"`);
  return { body, tree };
}

/** Most readers use the last duplicate and an editor changes the first, so an edit would have no effect. */
function secondOf(object: Node | undefined, key: string): Node | undefined {
  return object?.children?.filter(({ children }) => children?.[0]?.value === key)[1];
}

function putEdits(
  body: string,
  tree: Node,
  { place, entry }: { readonly place: EntryPlace; readonly entry: JsonValue },
): readonly Edit[] {
  const { key, name } = place;
  const servers = findNodeAtLocation(tree, [key]);
  if (servers === undefined) return insertProperty(body, tree, { key, value: { [name]: entry } as JsonObject });
  const old = findNodeAtLocation(servers, [name]);
  if (old === undefined) return insertProperty(body, servers, { key: name, value: entry });
  return [{ offset: old.offset, length: old.length, content: replacement(body, old, entry) }];
}

/** Written with the indentation of the entry that it replaces. */
function replacement(body: string, old: Node, entry: JsonValue): string {
  const start = body.lastIndexOf('\n', old.offset - 1) + 1;
  const indent = /^[ \t]*/.exec(body.slice(start))?.[0] ?? '';
  const unit = /\n([ \t]+)\S/.exec(body)?.[1];
  const eol = body.includes('\r\n') ? '\r\n' : '\n';
  return unit === undefined
    ? JSON.stringify(entry)
    : JSON.stringify(entry, null, unit).replaceAll('\n', `${eol}${indent}`);
}

function troubleAt(text: string, offset: number, problem: string): { readonly trouble: FileTrouble } {
  return { trouble: { line: lineAt(text, offset), problem } };
}
