import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { readName } from './read-names.ts';
import {
  asObject,
  checkKeys,
  checkUnique,
  choiceOf,
  field,
  type Reader,
  readChoice,
  readFlag,
  readList,
  readText,
  readTexts,
  reportError,
} from './reader.ts';
import type { AssessmentSyntax, ExtensionPoint, ReferenceSyntax, WorkflowSyntax } from './syntax.ts';

export function readAssessments(reader: Reader, object: SourceObject): WorkflowSyntax['assessments'] {
  const found = readList(reader, object, 'assessments').flatMap((node) => readAssessment(reader, node) ?? []);
  checkUnique(found, { what: 'assessment', name: 'id' }, reader.findings);
  return found;
}

function readAssessment(reader: Reader, node: SourceNode): AssessmentSyntax | undefined {
  const object = asObject(reader, node, 'An assessment');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.assessment });
  const id = readName(reader, object, { name: 'id', role: 'assessment' });
  const purpose = readText(reader, object, { name: 'purpose', bytesMax: TEXT_LIMITS.purpose }) ?? '';
  const dimensions = readList(reader, object, 'dimensions').flatMap((one) => readDimension(reader, one) ?? []);
  if (id === undefined) return undefined;
  checkUnique(dimensions, { what: 'dimension', name: 'id' }, reader.findings);
  const noDimensions = field(object, 'dimensions');
  if (dimensions.length === 0 && (noDimensions === undefined || isEmptyList(noDimensions))) {
    const message = 'An assessment needs at least one dimension with its levels.';
    reportError(reader, noDimensions ?? object, { code: 'missing_field', message });
  }
  return { at: object.pointer, id, purpose, dimensions };
}

function readDimension(reader: Reader, node: SourceNode): AssessmentSyntax['dimensions'][number] | undefined {
  const object = asObject(reader, node, 'A dimension');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.dimension });
  const id = readName(reader, object, { name: 'id', role: 'local' });
  const purpose = readText(reader, object, { name: 'purpose', bytesMax: TEXT_LIMITS.purpose }) ?? '';
  const levels = readTexts(reader, object, { name: 'levels', bytesMax: TEXT_LIMITS.name });
  const isRequired = readFlag(reader, object, 'required') ?? true;
  checkLevels(reader, readList(reader, object, 'levels'));
  if (levels.length < 2) {
    const message = 'A dimension needs at least two levels to tell apart.';
    reportError(reader, field(object, 'levels') ?? object, { code: 'wrong_value', message });
  }
  return id === undefined ? undefined : { at: object.pointer, id, purpose, levels, isRequired };
}

/** An agent may write a level in any case, so two of them must differ in more than that. */
function checkLevels(reader: Reader, nodes: readonly SourceNode[]): void {
  const seen = new Set<string>();
  for (const node of nodes) {
    if (node.kind !== 'string') continue;
    const level = node.value.trim().toLowerCase();
    if (seen.has(level)) {
      const message = `The level "${node.value}" is there already; upper and lower case count alike. Rename or remove it.`;
      reportError(reader, node, { code: 'duplicate_id', message });
    }
    seen.add(level);
  }
}

/** What may be put into an extension point. Where it does not say, anything. */
export const SLOT_KINDS = ['text', 'routine', 'workflow'] as const;

export function readExtensionPoints(reader: Reader, object: SourceObject): WorkflowSyntax['extensionPoints'] {
  const found = readList(reader, object, 'extensionPoints').flatMap((node) => readExtensionPoint(reader, node) ?? []);
  checkUnique(found, { what: 'extension point', name: 'slotId' }, reader.findings);
  return found;
}

function readExtensionPoint(reader: Reader, node: SourceNode): ExtensionPoint | undefined {
  const object = asObject(reader, node, 'An extension point');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.extensionPoint });
  const slotId = readName(reader, object, { name: 'slotId', role: 'slot' });
  const purpose = readText(reader, object, { name: 'purpose', bytesMax: TEXT_LIMITS.purpose }) ?? '';
  const fallback = readText(reader, object, { name: 'default', bytesMax: TEXT_LIMITS.argument, isRequired: true });
  const acceptedKinds = readList(reader, object, 'acceptedKinds').flatMap(
    (one) => choiceOf(reader, one, { what: 'An entry of "acceptedKinds"', choices: SLOT_KINDS }) ?? [],
  );
  if (slotId === undefined || fallback === undefined) return undefined;
  return { at: object.pointer, slotId, purpose, default: fallback, acceptedKinds };
}

export function readReferences(reader: Reader, object: SourceObject): WorkflowSyntax['references'] {
  const found = readList(reader, object, 'references').flatMap((node) => readReference(reader, node) ?? []);
  checkUnique(found, { what: 'reference', name: 'id' }, reader.findings);
  return found;
}

function readReference(reader: Reader, node: SourceNode): ReferenceSyntax | undefined {
  const object = asObject(reader, node, 'A reference');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.reference });
  const id = readName(reader, object, { name: 'id', role: 'local' });
  const title = readText(reader, object, { name: 'title', bytesMax: TEXT_LIMITS.title, isRequired: true });
  const source = readText(reader, object, { name: 'source', bytesMax: TEXT_LIMITS.source, isRequired: true });
  const purpose = readText(reader, object, { name: 'purpose', bytesMax: TEXT_LIMITS.purpose }) ?? '';
  const isAuthoritative = readFlag(reader, object, 'authoritative') ?? false;
  const resolveFrom = readChoice(reader, object, { name: 'resolveFrom', choices: ['workspace', 'package'] });
  if (id === undefined || title === undefined || source === undefined) return undefined;
  return { at: object.pointer, id, title, source, purpose, isAuthoritative, resolveFrom: resolveFrom ?? 'workspace' };
}

function isEmptyList(node: SourceNode): boolean {
  return node.kind === 'array' && node.items.length === 0;
}
