import { quote } from '../../json/quote.ts';
import { nearest, nearestId } from '../../spelling/nearest.ts';
import type { Finding } from '../finding.ts';
import { nodeAt } from '../source/node-at.ts';
import type { SourceNode } from '../source/source-node.ts';
import type { Diagnostics } from './collect-diagnostics.ts';
import type { Fix } from './diagnostic.ts';

const NAMES_SHOWN_MAX = 20;

/** Makes a diagnostic of a finding: where it stands, and what was probably meant. */
export function locate(finding: Finding, root: SourceNode, diagnostics: Diagnostics): void {
  const { at, unknown, ...rest } = finding;
  if (diagnostics.isFull(rest.severity)) {
    diagnostics.count(rest.severity);
    return;
  }
  const node = nodeAt(root, at);
  const place = { pointer: node.pointer, span: node.span };
  if (unknown === undefined) {
    diagnostics.add({ ...rest, ...place });
    return;
  }
  const meant = unknown.name.includes('.')
    ? nearestId(unknown.name, unknown.known)
    : nearest(unknown.name, unknown.known);
  const fix =
    meant === undefined ? undefined : renamed(unknown.isKey === true ? keyAt(root, at) : node, unknown.name, meant);
  const hint = meant === undefined ? knownNames(unknown.known) : `Did you mean "${meant}"?`;
  const message = `${rest.message} ${hint}`;
  diagnostics.add({ ...rest, ...place, message, ...(fix === undefined ? {} : { fix }) });
}

/** The name may be the whole text or stand inside of it. */
function renamed(node: SourceNode | undefined, name: string, meant: string): Fix | undefined {
  if (node?.kind !== 'string' || !node.value.includes(name)) return undefined;
  const text = quote(node.value.replaceAll(name, () => meant));
  return { title: `Replace "${name}" with "${meant}"`, edits: [{ ...node.span, text }] };
}

/** The key of a value, as if it were a text of its own. */
function keyAt(root: SourceNode, pointer: string): SourceNode | undefined {
  const parent = nodeAt(root, pointer.slice(0, pointer.lastIndexOf('/')));
  if (parent.kind !== 'object') return undefined;
  const field = [...parent.fields.values()].find(({ value }) => value.pointer === pointer);
  return field && { kind: 'string', value: field.name, span: field.nameSpan, pointer };
}

function knownNames(known: readonly string[]): string {
  if (known.length === 0) return 'There is none to choose from.';
  const shown = known.slice(0, NAMES_SHOWN_MAX).join(', ');
  return `Known: ${shown}${known.length > NAMES_SHOWN_MAX ? ` and ${known.length - NAMES_SHOWN_MAX} more` : ''}.`;
}
