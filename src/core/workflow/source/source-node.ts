import type { JsonValue } from '../../json/json-value.ts';
import type { SourceSpan } from '../diagnostics/diagnostic.ts';

/** A JSON value with the place it was written at. */
export type SourceNode = { readonly span: SourceSpan; readonly pointer: string } & (
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, SourceField> }
  | { readonly kind: 'array'; readonly items: readonly SourceNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
);

export type SourceField = {
  readonly name: string;
  /** Where the name itself stands, quotes included. */
  readonly nameSpan: SourceSpan;
  /** The whole field, from the name to the end of the value. */
  readonly span: SourceSpan;
  readonly value: SourceNode;
};

export type SourceObject = Extract<SourceNode, { kind: 'object' }>;

/** The JSON pointer of something inside a value. */
export function pointerTo(pointer: string, key: string | number): string {
  return typeof key === 'number'
    ? `${pointer}/${key}`
    : `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The value of a JSON pointer; the nearest one above it when it is not there. */
export function nodeAt(root: SourceNode, pointer: string): SourceNode {
  let node = root;
  for (const part of pointer.split('/').slice(1)) {
    const next = childOf(node, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

function childOf(node: SourceNode, key: string): SourceNode | undefined {
  if (node.kind === 'object') return node.fields.get(key)?.value;
  return node.kind === 'array' ? node.items[Number(key)] : undefined;
}

/** The value alone, without its place. */
export function plainValue(node: SourceNode): JsonValue {
  switch (node.kind) {
    case 'null':
      return null;
    case 'array':
      return node.items.map(plainValue);
    case 'object':
      return Object.fromEntries([...node.fields].map(([name, { value }]) => [name, plainValue(value)]));
    default:
      return node.value;
  }
}

export type SourceText = Extract<SourceNode, { kind: 'string' }>;

/** Every text below a value, in the order it is written. */
export function sourceTexts(node: SourceNode): readonly SourceText[] {
  switch (node.kind) {
    case 'string':
      return [node];
    case 'array':
      return node.items.flatMap(sourceTexts);
    case 'object':
      return [...node.fields.values()].flatMap(({ value }) => sourceTexts(value));
    default:
      return [];
  }
}
