import { quote } from '../json/json-value.ts';
import { meantIds, nearest } from '../text/spelling.ts';
import { shortList } from '../text/words.ts';
import type { CompilerFinding, DiagnosticCode, Diagnostics, Fix } from './diagnostics/diagnostic.ts';
import { nodeAt, type SourceNode } from './source/source-node.ts';

const NAMES_SHOWN_MAX = 20;

type Unknown = NonNullable<CompilerFinding['unknown']>;

/** Makes a diagnostic of a finding: where it stands, and what was probably meant. */
export function locateFinding(finding: CompilerFinding, root: SourceNode, diagnostics: Diagnostics): void {
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
  const key = unknown.isKey === true ? keyAt(root, at) : undefined;
  const meant = key === undefined ? meantBy(unknown.name, unknown.known) : meantKey(unknown, key.beside);
  const fix = meant === undefined ? undefined : renamed(key?.node ?? node, unknown.name, meant);
  const hint = meant === undefined ? knownNames(unknown.known, rest.code) : `Did you mean "${meant}"?`;
  const message = `${rest.message} ${hint}`;
  diagnostics.add({ ...rest, ...place, message, ...(fix === undefined ? {} : { fix }) });
}

/** The name may be the whole text or stand inside of it. */
function renamed(node: SourceNode | undefined, name: string, meant: string): Fix | undefined {
  if (node?.kind !== 'string' || !node.value.includes(name)) return undefined;
  const text = quote(node.value.replaceAll(name, () => meant));
  return { title: `Replace "${name}" with "${meant}"`, edits: [{ ...node.span, text }] };
}

function meantBy(name: string, known: readonly string[]): string | undefined {
  if (!name.includes('.')) return nearest(name, known) ?? known.find((id) => id.endsWith(`.${name}`));
  return meantIds(
    name,
    known.map((id) => ({ id })),
  ).id;
}

/** What a key was meant to be, unless that is there already, or the key before it is meant to be that. */
function meantKey({ name, known }: Unknown, beside: readonly string[]): string | undefined {
  const free = known.filter((one) => !beside.includes(one));
  const meant = meantBy(name, free);
  const earlier = beside.slice(0, beside.indexOf(name)).filter((one) => !known.includes(one));
  return earlier.some((one) => meantBy(one, free) === meant) ? undefined : meant;
}

type Key = { readonly node: SourceNode; readonly beside: readonly string[] };

/** The key of a value, as if it were a text of its own, and all that stand in its object. */
function keyAt(root: SourceNode, pointer: string): Key | undefined {
  const parent = nodeAt(root, pointer.slice(0, pointer.lastIndexOf('/')));
  if (parent.kind !== 'object') return undefined;
  const field = [...parent.fields.values()].find(({ value }) => value.pointer === pointer);
  const node = field && ({ kind: 'string', value: field.name, span: field.nameSpan, pointer } as const);
  return node && { node, beside: [...parent.fields.keys()] };
}

/** Where a file declares what it refers to. */
const DECLARED_IN: { readonly [code in DiagnosticCode]?: string } = {
  unknown_condition: 'conditions',
  unknown_assessment: 'assessments',
  unknown_function: 'functionDefinitions',
};

function knownNames(known: readonly string[], code: DiagnosticCode): string {
  const place = DECLARED_IN[code];
  if (known.length === 0) return `The file declares none.${place === undefined ? '' : ` Declare it in "${place}".`}`;
  return `Known: ${shortList(known, NAMES_SHOWN_MAX)}.`;
}
