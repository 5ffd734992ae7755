import type { SourceNode } from './source-node.ts';

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
