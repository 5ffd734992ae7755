import type { Condition } from '../compiled/condition.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { NAMED_KINDS, readCondition } from './read-condition.ts';
import { readLoop } from './read-loop.ts';
import { idOf } from './read-names.ts';
import { readParallel } from './read-parallel.ts';
import { readStandard } from './read-standard.ts';
import { readTemplateCall } from './read-template-call.ts';
import {
  asObject,
  checkKeys,
  choiceOf,
  field,
  type Reader,
  readFlag,
  readText,
  reportError,
  reportMissing,
  wrongType,
} from './reader.ts';
import type { ConfirmationSyntax, StepSyntax } from './syntax.ts';

/** What every kind of step has. */
export type StepHead = Pick<StepSyntax, 'at' | 'id' | 'title' | 'runCondition' | 'confirmation' | 'isNotesOptional'>;

const STEP_TYPES = ['standard', 'loop', 'template_call', 'parallel'] as const;
type StepKind = (typeof STEP_TYPES)[number];

export function readSteps(reader: Reader, nodes: readonly SourceNode[]): readonly StepSyntax[] {
  return nodes.flatMap((node) => readStep(reader, node) ?? []);
}

function readStep(reader: Reader, node: SourceNode): StepSyntax | undefined {
  const object = asObject(reader, node, 'A step');
  if (object === undefined) return undefined;
  const type = stepType(reader, object);
  if (type === undefined) return undefined;
  const head = readHead(reader, object, type);
  switch (type) {
    case 'standard':
      checkKeys(reader, object, { keys: [...KEYS.stepHead, ...KEYS.standardStep] });
      return readStandard(reader, object, head);
    case 'loop':
      checkKeys(reader, object, { keys: [...KEYS.stepHead, ...loopKeys(object)] });
      return readLoop(reader, object, head);
    case 'template_call':
      checkKeys(reader, object, { keys: [...KEYS.stepHead, ...callKeys(object)] });
      return readTemplateCall(reader, object, head);
    case 'parallel':
      checkKeys(reader, object, { keys: [...KEYS.stepHead, ...KEYS.parallelStep] });
      return readParallel(reader, object, head);
  }
}

/** Which settings count depends on the spelling; those of the other one would be ignored, so they are unknown. */
function loopKeys(object: SourceObject): readonly string[] {
  return object.fields.has('loop') ? KEYS.publishedLoop : KEYS.designLoop;
}

function callKeys(object: SourceObject): readonly string[] {
  return object.fields.has('templateCall') ? KEYS.publishedCall : KEYS.designCall;
}

/** A step without `type` is told by what it has. */
function stepType(reader: Reader, object: SourceObject): StepKind | undefined {
  const node = field(object, 'type');
  if (node !== undefined) return choiceOf(reader, node, { what: '"type" of a step', choices: STEP_TYPES });
  if (object.fields.has('templateCall')) return 'template_call';
  if (object.fields.has('loop')) return 'loop';
  return 'standard';
}

function readHead(reader: Reader, object: SourceObject, type: StepKind): StepHead {
  const id = readStepId(reader, object, type);
  const isTitleNeeded = type === 'standard' || type === 'parallel';
  const title = readText(reader, object, { name: 'title', bytesMax: TEXT_LIMITS.title, isRequired: isTitleNeeded });
  const runConditionNode = field(object, 'runCondition');
  const runCondition = runConditionNode && readCondition(reader, runConditionNode);
  const confirmation = readConfirmation(reader, field(object, 'requireConfirmation'));
  const isNotesOptional = readFlag(reader, object, 'notesOptional') ?? false;
  return {
    at: object.pointer,
    // What is missing was reported; an empty id says so to everything that compares ids.
    id: id ?? '',
    title: title ?? id ?? '',
    confirmation,
    isNotesOptional,
    ...(runCondition === undefined || runCondition.kind === 'always' ? {} : { runCondition }),
  };
}

/** In the design spelling a loop is named by `loopId` alone. */
function readStepId(reader: Reader, object: SourceObject, type: StepKind): string | undefined {
  const node = field(object, 'id') ?? (type === 'loop' ? field(object, 'loopId') : undefined);
  return node === undefined
    ? reportMissing(reader, object, 'id')
    : idOf(reader, node, { what: 'A step id', role: 'step' });
}

const ALWAYS: Condition = { kind: 'always' };
export const GATES = ['human_approval', 'coordinator_eval'] as const;

function readConfirmation(reader: Reader, node: SourceNode | undefined): ConfirmationSyntax {
  if (node === undefined) return { kind: 'none' };
  if (node.kind === 'boolean') return node.value ? { kind: 'confirm', when: ALWAYS } : { kind: 'none' };
  if (node.kind !== 'object') {
    reportError(reader, node, wrongType('"requireConfirmation"', 'true, false, a condition or a gate', node));
    return { kind: 'none' };
  }
  const kind = field(node, 'kind');
  const gate = GATES.find((name) => kind?.kind === 'string' && kind.value === name);
  const isNamed = NAMED_KINDS.some((name) => kind?.kind === 'string' && kind.value === name);
  if (kind !== undefined && gate === undefined && !isNamed) {
    choiceOf(reader, kind, { what: '"kind"', choices: [...GATES, ...NAMED_KINDS] });
    return { kind: 'none' };
  }
  if (gate === undefined) return { kind: 'confirm', when: readCondition(reader, node) ?? ALWAYS };
  checkKeys(reader, node, { keys: KEYS.gate, isClosed: true });
  const condition = field(node, 'condition');
  return { kind: gate, when: (condition && readCondition(reader, condition)) ?? ALWAYS };
}
