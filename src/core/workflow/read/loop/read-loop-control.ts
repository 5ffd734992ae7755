import { LOOP_DECISIONS } from '../../format/check-loop-decisions.ts';
import { KEYS } from '../../format/keys.ts';
import { TEXT_LIMITS } from '../../format/limits.ts';
import { readWholeCondition } from '../../format/read-condition.ts';
import { contextName } from '../../format/read-names.ts';
import {
  asObject,
  checkKeys,
  choiceOf,
  field,
  type Reader,
  readChoice,
  readText,
  removeField,
  replaceWith,
  reportError,
  reportMissing,
  reportWarning,
  wrongType,
} from '../../format/reader.ts';
import type { LoopControlSyntax, WholeCondition } from '../../format/syntax.ts';
import { plainValue } from '../../source/plain-value.ts';
import type { SourceNode, SourceObject } from '../../source/source-node.ts';

export const LOOP_TYPES = ['while', 'until', 'for', 'forEach'] as const;
type LoopKind = (typeof LOOP_TYPES)[number];

/** What decides about a loop whose settings stand beside its id. */
export function readDesignControl(reader: Reader, object: SourceObject): LoopControlSyntax | undefined {
  const node = field(object, 'while');
  if (node === undefined) return { kind: 'undeclared' };
  const condition = readLoopCondition(reader, node, 'while');
  return condition && { kind: 'while', condition };
}

/** What decides about a loop whose settings stand in an object of their own. */
export function readPublishedControl(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
  if (!settings.fields.has('type')) return reportMissing(reader, settings, 'type');
  const type = readChoice(reader, settings, { name: 'type', choices: LOOP_TYPES });
  if (type === undefined) return undefined;
  warnOfUnused(reader, settings, type);
  switch (type) {
    case 'for':
      return readFor(reader, settings);
    case 'forEach':
      return readForEach(reader, settings);
    case 'while':
    case 'until':
      return readConditional(reader, settings, type);
  }
}

const UNUSED: { readonly [type in LoopKind]: readonly string[] } = {
  while: ['items', 'count', 'itemVar'],
  until: ['items', 'count', 'itemVar'],
  for: ['items', 'itemVar', 'condition', 'conditionSource'],
  forEach: ['count', 'condition', 'conditionSource'],
};

/** A setting that has no effect is most likely meant to have one. */
function warnOfUnused(reader: Reader, settings: SourceObject, type: LoopKind): void {
  const warn = (name: string, why: string) => {
    const found = settings.fields.get(name);
    if (found === undefined) return;
    const place = { pointer: found.value.pointer, span: found.nameSpan };
    const message = `"${name}" ${why} and is ignored. Remove it, or change the loop.`;
    reportWarning(reader, place, { code: 'setting_unused', message, fix: removeField(settings, name) });
  };
  for (const name of UNUSED[type]) warn(name, `means nothing to a loop of type "${type}"`);
  if (!UNUSED[type].includes('conditionSource') && settings.fields.has('conditionSource')) {
    warn('condition', 'does not count beside "conditionSource"');
  }
}

function readFor(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
  const node = field(settings, 'count');
  if (node === undefined) return reportMissing(reader, settings, 'count');
  if (node.kind === 'string' && /^\d{1,9}$/.test(node.value)) return { kind: 'for', count: Number(node.value) };
  if (node.kind === 'string') {
    const count = contextName(reader, node, '"count"');
    return count === undefined ? undefined : { kind: 'for', count };
  }
  if (node.kind === 'number' && Number.isSafeInteger(node.value) && node.value >= 0) {
    return { kind: 'for', count: node.value };
  }
  return reportError(reader, node, wrongType('"count"', 'a whole number or the name of a context value', node));
}

function readForEach(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
  const node = field(settings, 'items');
  if (node === undefined) return reportMissing(reader, settings, 'items');
  if (node.kind === 'string') {
    const items = contextName(reader, node, '"items"');
    return items === undefined ? undefined : { kind: 'for_each', items };
  }
  if (node.kind === 'array') return { kind: 'for_each', items: node.items.map(plainValue) };
  return reportError(reader, node, wrongType('"items"', 'a list or the name of a context value', node));
}

type Conditional = 'while' | 'until';

function readConditional(reader: Reader, settings: SourceObject, type: Conditional): LoopControlSyntax | undefined {
  const sourceNode = field(settings, 'conditionSource');
  if (sourceNode !== undefined) return readConditionSource(reader, sourceNode, type);
  const conditionNode = field(settings, 'condition');
  if (conditionNode === undefined) return { kind: 'undeclared' };
  const condition = readLoopCondition(reader, conditionNode, type);
  return condition && { kind: 'undeclared', fallback: { kind: type, condition } };
}

function readConditionSource(reader: Reader, node: SourceNode, type: Conditional): LoopControlSyntax | undefined {
  const source = asObject(reader, node, '"conditionSource"');
  const kindNode = source && field(source, 'kind');
  if (source === undefined) return undefined;
  if (kindNode === undefined) return reportMissing(reader, source, 'kind');
  const choices = ['artifact_contract', 'context_variable'] as const;
  const sourceKind = choiceOf(reader, kindNode, { what: '"kind" of a condition source', choices });
  if (sourceKind === 'artifact_contract') {
    checkKeys(reader, source, { keys: KEYS.artifactSource, isClosed: true });
    const contractRef = readText(reader, source, { name: 'contractRef', bytesMax: TEXT_LIMITS.id, isRequired: true });
    return contractRef === undefined
      ? undefined
      : { kind: 'artifact', contractRef, at: `${source.pointer}/contractRef` };
  }
  if (sourceKind === undefined) return undefined;
  checkKeys(reader, source, { keys: KEYS.contextSource, isClosed: true });
  const conditionNode = field(source, 'condition');
  if (conditionNode === undefined) return reportMissing(reader, source, 'condition');
  const condition = readLoopCondition(reader, conditionNode, type);
  return condition && { kind: type, condition };
}

/** Only the whole condition of a loop may stand for the decision that an artifact brings. */
function readLoopCondition(reader: Reader, node: SourceNode, type: Conditional): WholeCondition | undefined {
  reader.uses.loopConditions.push({ at: node.pointer, type });
  const condition = readWholeCondition(reader, node);
  const { fitting, message } = LOOP_DECISIONS[type];
  const said = node.kind === 'object' && condition?.kind === 'loop_control' ? field(node, 'continueWhen') : undefined;
  if (said?.kind !== 'string' || said.value === fitting) return condition;
  return reportError(reader, said, { code: 'wrong_value', message, fix: replaceWith(said, fitting) });
}
