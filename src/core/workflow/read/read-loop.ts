import type { Condition } from '../compiled/condition.ts';
import { plainValue } from '../source/plain-value.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import type { LoopControlSyntax, LoopStep } from '../syntax.ts';
import { KEYS } from './keys.ts';
import { ITERATIONS_MAX, TEXT_LIMITS } from './limits.ts';
import { readCondition } from './read-condition.ts';
import { readFunctions } from './read-functions.ts';
import { readSteps, type StepHead } from './read-step.ts';
import {
  asObject,
  checkKeys,
  choiceOf,
  field,
  idOf,
  type Problem,
  type Reader,
  readChoice,
  readText,
  reportError,
  reportMissing,
  wrongType,
} from './reader.ts';

export const LOOP_TYPES = ['while', 'until', 'for', 'forEach'] as const;
const SUGGESTED_LIMIT = 10;

/** A loop in either spelling: its settings beside the id, or in an object of their own. */
export function readLoop(reader: Reader, object: SourceObject, head: StepHead): LoopStep | undefined {
  const inner = field(object, 'loop');
  const settings = inner === undefined ? object : asObject(reader, inner, '"loop"');
  if (settings === undefined) return undefined;
  if (inner !== undefined) checkKeys(reader, settings, { keys: KEYS.loopSettings });
  const control = inner === undefined ? readDesignControl(reader, object) : readPublishedControl(reader, settings);
  const maxIterations = readLimit(reader, settings);
  const body = readBody(reader, object);
  const name = (key: string) =>
    inner === undefined ? undefined : readText(reader, settings, { name: key, bytesMax: TEXT_LIMITS.variable });
  const loopId = readLoopId(reader, object, settings);
  if (body === undefined) return undefined;
  return {
    ...head,
    kind: 'loop',
    control: control ?? { kind: 'unknown' },
    maxIterations,
    body,
    variables: {
      iteration: name('iterationVar') ?? 'currentIteration',
      item: name('itemVar') ?? 'currentItem',
      index: name('indexVar') ?? 'currentIndex',
    },
    functions: readFunctions(reader, object),
    ...loopId,
  };
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
    object.fields.has('id') || node !== field(object, 'loopId') ? idOf(reader, node, 'A loop id') : undefined;
  return loopId === undefined ? { loopIdAt: node.pointer } : { loopId, loopIdAt: node.pointer };
}

function readLimit(reader: Reader, settings: SourceObject): number | undefined {
  const node = field(settings, 'maxIterations');
  if (node === undefined) return reportError(reader, settings, limitMissing(settings));
  const isCount = node.kind === 'number' && Number.isInteger(node.value);
  if (isCount && node.value >= 1 && node.value <= ITERATIONS_MAX) return node.value;
  const problem = wrongType('"maxIterations"', `a whole number from 1 to ${ITERATIONS_MAX}`, node);
  return reportError(reader, node, { ...problem, code: node.kind === 'number' ? 'wrong_value' : 'wrong_type' });
}

function limitMissing({ span, fields }: SourceObject): Problem {
  const text = `"maxIterations": ${SUGGESTED_LIMIT}${fields.size === 0 ? '' : ', '}`;
  return {
    code: 'loop_without_limit',
    message: 'A loop needs "maxIterations", so that it ends whatever happens. There is no default.',
    fix: { title: `Insert "maxIterations": ${SUGGESTED_LIMIT}`, edits: [{ offset: span.offset + 1, length: 0, text }] },
  };
}

function readDesignControl(reader: Reader, object: SourceObject): LoopControlSyntax | undefined {
  const node = field(object, 'while');
  if (node === undefined) return { kind: 'undeclared' };
  const condition = readCondition(reader, node);
  return condition && { kind: 'while', condition };
}

function readPublishedControl(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
  if (!settings.fields.has('type')) return reportMissing(reader, settings, 'type');
  const type = readChoice(reader, settings, { name: 'type', choices: LOOP_TYPES });
  switch (type) {
    case 'for':
      return readFor(reader, settings);
    case 'forEach':
      return readForEach(reader, settings);
    case 'while':
    case 'until':
      return readConditional(reader, settings, type);
    default:
      return undefined;
  }
}

function readFor(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
  const node = field(settings, 'count');
  if (node === undefined) return reportMissing(reader, settings, 'count');
  if (node.kind === 'string' && node.value !== '') {
    return { kind: 'for', count: /^\d{1,9}$/.test(node.value) ? Number(node.value) : node.value };
  }
  if (node.kind === 'number' && Number.isSafeInteger(node.value) && node.value >= 0) {
    return { kind: 'for', count: node.value };
  }
  return reportError(reader, node, wrongType('"count"', 'a whole number or the name of a context value', node));
}

function readForEach(reader: Reader, settings: SourceObject): LoopControlSyntax | undefined {
  const node = field(settings, 'items');
  if (node === undefined) return reportMissing(reader, settings, 'items');
  if (node.kind === 'string' && node.value !== '') return { kind: 'for_each', items: node.value };
  if (node.kind === 'array') return { kind: 'for_each', items: node.items.map(plainValue) };
  return reportError(reader, node, wrongType('"items"', 'a list or the name of a context value', node));
}

function readConditional(
  reader: Reader,
  settings: SourceObject,
  kind: 'while' | 'until',
): LoopControlSyntax | undefined {
  const sourceNode = field(settings, 'conditionSource');
  if (sourceNode !== undefined) return readConditionSource(reader, sourceNode, kind);
  const conditionNode = field(settings, 'condition');
  if (conditionNode === undefined) return { kind: 'undeclared' };
  const condition = readCondition(reader, conditionNode);
  return condition && { kind: 'undeclared', fallback: { kind, condition } };
}

function readConditionSource(reader: Reader, node: SourceNode, kind: 'while' | 'until'): LoopControlSyntax | undefined {
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
  const condition: Condition | undefined = readCondition(reader, conditionNode);
  return condition && { kind, condition };
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
