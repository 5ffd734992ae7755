import type { SourceNode } from '../source/source-node.ts';

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
