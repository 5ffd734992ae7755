import type { JsonValue } from '../../json/json-value.ts';
import type { SourceNode } from './source-node.ts';

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
