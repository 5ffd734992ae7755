import { readDesignControl, readPublishedControl } from '../read/loop/read-loop-control.ts';
import type { SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { ITERATIONS_MAX } from './limits.ts';
import { readFunctions } from './read-functions.ts';
import { idOf, readVariableName } from './read-names.ts';
import { readSteps, type StepHead } from './read-step.ts';
import {
  asObject,
  checkKeys,
  field,
  isMisspelled,
  type Reader,
  type ReadProblem,
  reportError,
  reportMissing,
  wrongType,
} from './reader.ts';
import type { LoopStep } from './syntax.ts';

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
