import { plainValue, type SourceNode, type SourceObject } from '../source/source-node.ts';
import { LOOP_DECISIONS } from './check-loop-decisions.ts';
import { KEYS } from './keys.ts';
import { ITERATIONS_MAX, TEXT_LIMITS } from './limits.ts';
import { readWholeCondition } from './read-condition.ts';
import { readFunctions } from './read-functions.ts';
import { contextName, idOf, readVariableName } from './read-names.ts';
import { readSteps, type StepHead } from './read-step.ts';
import {
  asObject,
  checkKeys,
  choiceOf,
  field,
  isMisspelled,
  type Reader,
  type ReadProblem,
  readChoice,
  readText,
  removeField,
  replaceWith,
  reportError,
  reportMissing,
  reportWarning,
  wrongType,
} from './reader.ts';
import type { LoopControlSyntax, LoopStep, WholeCondition } from './syntax.ts';

export const LOOP_TYPES = ['while', 'until', 'for', 'forEach'] as const;
type LoopKind = (typeof LOOP_TYPES)[number];

/** What decides about a loop whose settings stand beside its id. */
function readDesignControl(reader: Reader, object: SourceObject): LoopControlSyntax | undefined {
  const node = field(object, 'while');
  if (node === undefined) return { kind: 'undeclared' };
  const condition = readLoopCondition(reader, node, 'while');
  return condition && { kind: 'while', condition };
}

/** What decides about a loop whose settings stand in an object of their own. */
function readPublishedControl(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
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

const SUGGESTED_LIMIT = 10;

/** A loop in either spelling: its settings beside the id, or in an object of their own. */
export function readLoop(reader: Reader, object: SourceObject, head: StepHead): LoopStep | undefined {
  const inner = field(object, 'loop');
  const settings = inner === undefined ? object : asObject(reader, inner, '"loop"');
  if (settings === undefined) return undefined;
  if (inner !== undefined) checkKeys(reader, settings, { keys: KEYS.loopSettings });
  const control = inner === undefined ? readDesignControl(reader, object) : readPublishedControl(reader, settings);
  const keys = inner === undefined ? [...KEYS.stepHead, ...KEYS.designLoop] : KEYS.loopSettings;
  const maxIterations = readLimit(reader, settings, keys);
  const body = readBody(reader, object);
  const loopId = readLoopId(reader, object, settings);
  if (body === undefined) return undefined;
  return {
    ...head,
    kind: 'loop',
    control: control ?? { kind: 'unknown' },
    maxIterations,
    body,
    variables: readVariables(reader, inner === undefined ? undefined : settings),
    functions: readFunctions(reader, object, 'loop'),
    ...loopId,
  };
}

const VARIABLES = [
  { variable: 'iteration', key: 'iterationVar', usual: 'currentIteration' },
  { variable: 'item', key: 'itemVar', usual: 'currentItem' },
  { variable: 'index', key: 'indexVar', usual: 'currentIndex' },
] as const;

/** The names under which steps find where a loop stands. Each is another one, or one would hide the other. */
function readVariables(reader: Reader, settings: SourceObject | undefined): LoopStep['variables'] {
  const named = VARIABLES.map(({ variable, key, usual }) => {
    const told = settings && readVariableName(reader, settings, key);
    return { variable, key, name: told ?? usual, isTold: told !== undefined };
  });
  // Those that were left as they are come first: it is the told one that can be changed.
  const taken = new Set<string>();
  for (const { key, name } of named.toSorted((a, b) => Number(a.isTold) - Number(b.isTold))) {
    const node = settings && field(settings, key);
    if (node !== undefined && taken.has(name)) {
      const message = `"${name}" is the name of another variable of this loop. Choose another one.`;
      reportError(reader, node, { code: 'duplicate_id', message });
    }
    taken.add(name);
  }
  return Object.fromEntries(named.map(({ variable, name }) => [variable, name])) as LoopStep['variables'];
}

function readLoopId(
  reader: Reader,
  object: SourceObject,
  settings: SourceObject,
): Pick<LoopStep, 'loopId' | 'loopIdAt'> {
  const source = field(settings, 'conditionSource');
  const node = field(object, 'loopId') ?? (source?.kind === 'object' ? field(source, 'loopId') : undefined);
  if (node === undefined) return { loopIdAt: `${object.pointer}/id` };
  // In the design spelling this was read, and if need be reported, as the id of the step.
  const loopId =
    object.fields.has('id') || node !== field(object, 'loopId')
      ? idOf(reader, node, { what: 'A loop id', role: 'loop' })
      : undefined;
  return loopId === undefined ? { loopIdAt: node.pointer } : { loopId, loopIdAt: node.pointer };
}

function readLimit(reader: Reader, settings: SourceObject, keys: readonly string[]): number | undefined {
  const node = field(settings, 'maxIterations');
  if (node === undefined) {
    const { fix, ...missing } = limitMissing(settings);
    const isThere = isMisspelled(settings, 'maxIterations', keys);
    return reportError(reader, settings, { ...missing, fix: isThere ? undefined : fix });
  }
  const isCount = node.kind === 'number' && Number.isInteger(node.value);
  if (isCount && node.value >= 1 && node.value <= ITERATIONS_MAX) return node.value;
  const problem = wrongType('"maxIterations"', `a whole number from 1 to ${ITERATIONS_MAX}`, node);
  return reportError(reader, node, { ...problem, code: node.kind === 'number' ? 'wrong_value' : 'wrong_type' });
}

function limitMissing({ span, fields }: SourceObject): ReadProblem {
  const text = `"maxIterations": ${SUGGESTED_LIMIT}${fields.size === 0 ? '' : ', '}`;
  return {
    code: 'loop_without_limit',
    message: 'A loop needs "maxIterations", so that it ends whatever happens. There is no default.',
    fix: { title: `Insert "maxIterations": ${SUGGESTED_LIMIT}`, edits: [{ offset: span.offset + 1, length: 0, text }] },
  };
}

function readBody(reader: Reader, object: SourceObject): LoopStep['body'] | undefined {
  const node = field(object, 'body');
  if (node === undefined) return reportMissing(reader, object, 'body');
  if (node.kind === 'string') return { kind: 'reference', stepId: node.value, at: node.pointer };
  if (node.kind !== 'array')
    return reportError(reader, node, wrongType('"body"', 'a list of steps or a step id', node));
  if (node.items.length === 0) {
    return reportError(reader, node, { code: 'wrong_value', message: 'A loop needs at least one step in its body.' });
  }
  return { kind: 'steps', steps: readSteps(reader, node.items) };
}
