import { assert } from '../../assert.ts';
import { defined, type JsonObject } from '../../json/json-value.ts';
import type { EventOf } from '../../log/event.ts';
import {
  type EngineState,
  type ExecutionSnapshot,
  isInOpenScope,
  type LoopFrame,
} from '../../log/execution-snapshot.ts';
import { type LoopId, type StepId, type StepInstanceKey, stepInstanceKey } from '../../log/ids.ts';
import type { CompiledLoop, Entry, Guard } from '../../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import {
  entryPart,
  guardsOver,
  indexWorkflow,
  loopOf,
  stepOf,
  type WorkflowIndex,
} from '../../workflow/compiled/workflow-index.ts';
import { unsetKeys } from '../condition/deciding-context.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import { conditionFacts, type RunFacts } from '../step-place.ts';
import { endIteration, enterLoop } from './loop-iteration.ts';
import type { Walk } from './walk.ts';
import {
  entryAhead,
  entryHere,
  evaluatedRun,
  holdsIn,
  loopPathOf,
  loopVariablesAt,
  moveOn,
  noteUnset,
  pass,
  readRange,
  roundsOf,
  selectedStep,
  stackVariables,
  type Walking,
} from './walking.ts';

/** Where a walk starts: before the first step, or at a pending step that was just done. */
export type WalkStart = {
  readonly index: WorkflowIndex;
  readonly state: EngineState;
  readonly facts: RunFacts;
  /** What the step that was just done decided about a loop around it. */
  readonly loopDecision: { readonly loopId: LoopId; readonly decision: 'continue' | 'stop' } | undefined;
  /** Whether a loop in trouble halts the walk, or is left with its trouble recorded. */
  readonly onTrouble: 'halt' | 'go_on';
};

/** Walks from a state to the next step that is due, or to the end of the run. */
export function nextStep(start: WalkStart): Walk {
  const done = doneIn(start.state);
  const walking = begin(start);
  const stepId = findDue(walking);
  const { isHalted, troubles, skipped, trace } = walking;
  if (isHalted) return { state: start.state, isHalted, troubles, skipped: [], trace };
  const unset = [...walking.unset.values()];
  const hinged = unset.length === 0 ? {} : { unset };
  return { state: stateAt(walking, stepId, done), isHalted, troubles, skipped, ...hinged, trace };
}

function begin({ index, state, facts, loopDecision, onTrouble }: WalkStart): Walking {
  assert(state.kind !== 'complete', 'nothing follows the end of a run');
  const met = { passed: 0, isHalted: false, troubles: [], skipped: [], unset: new Map(), trace: [] };
  if (state.kind === 'init') return { index, facts, onTrouble, cursor: 0, stack: [], ...met };
  const { loopId: decided, decision } = loopDecision ?? {};
  assert(
    decided === undefined || state.loopStack.some(({ loopId }) => loopId === decided),
    'a step decides about loops around it',
  );
  const stack = state.loopStack.map((frame) => (frame.loopId === decided ? { ...frame, decision } : frame));
  const walking = { index, facts, onTrouble, cursor: state.cursor, stack, ...met };
  moveOn(walking);
  return walking;
}

/** Moves the walk to the next step that is due; `undefined` when there is none or the walk is halted. */
function findDue(walking: Walking): StepId | undefined {
  while (!walking.isHalted) {
    const entry = entryHere(walking);
    if (entry === undefined && walking.stack.length === 0) return undefined;
    const failed = entry === undefined ? undefined : failedHere(walking, entry);
    if (entry === undefined) endIteration(walking);
    else if (failed !== undefined) skip(walking, failed);
    else if (entry.kind === 'step') return select(walking, entry.stepId);
    else enterLoop(walking, loopOf(walking.index, entry.loopId));
  }
  return undefined;
}

function select({ trace, stack }: Walking, stepId: StepId): StepId {
  trace.push(selectedStep(stepId, loopPathOf(stack)));
  return stepId;
}

/** Step instances done so far, including the one that was pending. */
function doneIn(state: EngineState): readonly StepInstanceKey[] {
  if (state.kind !== 'running') return [];
  assert(state.pending.kind === 'some', 'a walk goes on from a step that was done');
  const { stepId, loopPath } = state.pending.step;
  return [...state.completed.values, stepInstanceKey(stepId, loopPath)];
}

function stateAt(
  { cursor, stack }: Walking,
  stepId: StepId | undefined,
  done: readonly StepInstanceKey[],
): EngineState {
  if (stepId === undefined) return { kind: 'complete' };
  return {
    kind: 'running',
    cursor,
    completed: { kind: 'set', values: done.filter((key) => isInOpenScope(key, stack)).sort() },
    loopStack: [...stack],
    pending: { kind: 'some', step: { stepId, loopPath: [...loopPathOf(stack)] } },
  };
}

/** The false condition that excludes the current entry, and how many entries it excludes; none when the entry is due. */
function failedHere(walking: Walking, entry: Entry): Guard | undefined {
  const { stepId, runCondition } = entryPart(walking.index, entry);
  const own = runCondition === undefined ? [] : [{ condition: runCondition, entries: 1, of: entry.kind }];
  const guards = (entry.guards ?? []).map((guard) => ({ ...guard, of: 'group' as const }));
  return [...guards, ...own].find(({ condition, entries, of }) => {
    const { stack, trace, index } = walking;
    const isMet = holdsIn(stack, condition, walking);
    const last = entryAhead(walking, entries - 1) ?? entry;
    const group = { size: entries, first: titleOf(index, entry), last: titleOf(index, last) };
    trace.push(evaluatedRun({ of, group, stepId, condition }, isMet, loopPathOf(stack)));
    return !isMet;
  });
}

/** Skips entries that are not due, and records each with the condition that failed. */
function skip(walking: Walking, { condition, entries }: Guard): void {
  noteUnset(walking, condition, true);
  for (let i = 0; i < entries; i += 1) {
    const entry = entryHere(walking);
    assert(entry !== undefined, 'a guard decides about entries of its own list');
    const { stepId } = entryPart(walking.index, entry);
    walking.skipped.push({ stepId, ...conditionIdOf(condition), loopPath: [...loopPathOf(walking.stack)] });
    pass(walking);
  }
}

/** A title with placeholders says nothing without their values, so the id is used instead. */
function titleOf(index: WorkflowIndex, entry: Entry): string {
  const { title, stepId } = entryPart(index, entry);
  return title.includes('{{') ? stepId : title;
}

/** Only a condition that is a plain reference has an id. */
function conditionIdOf(condition: Condition): Pick<EventOf<'step_skipped'>['data'], 'conditionId'> {
  if (condition.kind !== 'ref') return {};
  return { conditionId: condition.conditionId as EventOf<'step_skipped'>['data']['conditionId'] };
}

/** A pending step, and the loops around it. */
export type PendingPlace = {
  readonly step: CompiledStep;
  /** Open loops, outermost first. */
  readonly loops: readonly {
    readonly loopId: LoopId;
    readonly title: string;
    /** Counted from 1. */
    readonly iteration: number;
    /** Known only of loops over a list or a count. */
    readonly of?: number;
  }[];
};

/** The step that is pending in a state; none before the first step and after the last. */
export function pendingStepAt(index: WorkflowIndex, state: EngineState): PendingPlace | undefined {
  if (state.kind !== 'running' || state.pending.kind === 'none') return undefined;
  const { stepId } = state.pending.step;
  return {
    step: stepOf(index, stepId),
    loops: state.loopStack.map((frame) => {
      const loop = loopOf(index, frame.loopId);
      const of = roundsOf(loop, frame);
      const { loopId, title } = loop;
      return defined({ loopId, title, iteration: frame.iteration + 1, of });
    }),
  };
}

/** The state of a run at a step, in the first iteration of every loop around it. */
export type StepStanding = {
  readonly state: Extract<EngineState, { kind: 'running' }>;
  /** All conditions that decide whether the step is due, the outermost first. */
  readonly conditions: readonly Condition[];
};

type Way = { readonly stack: readonly LoopFrame[]; readonly cursor: number; readonly conditions: readonly Condition[] };

/** The state in which a step is pending, for a preview without running the steps before it. */
export function stateAtStep(index: WorkflowIndex, stepId: string, context: JsonObject): StepStanding | undefined {
  const way = findWay(index, stepId, context);
  if (way === undefined) return undefined;
  const { stack, cursor, conditions } = way;
  const step = { stepId: stepOf(index, stepId).stepId, loopPath: [...loopPathOf(stack)] };
  return {
    state: {
      kind: 'running',
      cursor,
      completed: { kind: 'set', values: [] },
      loopStack: [...stack],
      pending: { kind: 'some', step },
    },
    conditions,
  };
}

function findWay(index: WorkflowIndex, stepId: string, context: JsonObject): Way | undefined {
  const search = (entries: readonly Entry[], above: Way): Way | undefined => {
    for (const [i, entry] of entries.entries()) {
      const here = above.stack.length === 0 ? { ...above, cursor: i } : { ...above, stack: at(above.stack, i) };
      const { runCondition } = entryPart(index, entry);
      const conditions = [
        ...here.conditions,
        ...guardsOver(entries, i),
        ...(runCondition === undefined ? [] : [runCondition]),
      ];
      if (entry.kind === 'step') {
        if (entry.stepId === stepId) return { ...here, conditions };
        continue;
      }
      const loop = loopOf(index, entry.loopId);
      const range = readRange(loop, { context, loopVariables: stackVariables(index, here.stack) }).unwrapOr({});
      const frame = { loopId: loop.loopId, iteration: 0, bodyIndex: 0, ...range };
      const inside = search(loop.body, { ...here, stack: [...here.stack, frame], conditions });
      if (inside !== undefined) return inside;
    }
    return undefined;
  };
  return search(index.workflow.entries, { stack: [], cursor: 0, conditions: [] });
}

function at(stack: readonly LoopFrame[], bodyIndex: number): readonly LoopFrame[] {
  return stack.map((frame, i) => (i === stack.length - 1 ? { ...frame, bodyIndex } : frame));
}

/**
 * Whether a snapshot is a possible state of a workflow: its position and its open loops lead to the pending step. The
 * schema of a snapshot cannot check this, and its hash proves nothing about who wrote it.
 */
export function isSnapshotOf(workflow: CompiledWorkflow, { enginePayload }: ExecutionSnapshot): boolean {
  return isPlaceOf(indexWorkflow(workflow), enginePayload.state);
}

function isPlaceOf({ workflow, loops }: WorkflowIndex, state: EngineState): boolean {
  if (state.kind === 'complete') return true;
  if (state.kind === 'init') return workflow.entries.length > 0;
  if (state.pending.kind === 'none') return false;
  let list = workflow.entries;
  let position = state.cursor;
  for (const frame of state.loopStack) {
    const entry = list[position];
    const loop = loops.get(frame.loopId);
    if (loop === undefined || entry?.kind !== 'loop' || entry.loopId !== frame.loopId) return false;
    if (!isRoundOf(loop, frame)) return false;
    list = loop.body;
    position = frame.bodyIndex;
  }
  const entry = list[position];
  return entry?.kind === 'step' && entry.stepId === state.pending.step.stepId;
}

/** The frame keeps what a loop iterates over, unless the workflow file states it. */
function isRoundOf(loop: CompiledLoop, frame: LoopFrame): boolean {
  const { kind } = loop.control;
  const isCounted = kind === 'for' || kind === 'for_each';
  return frame.iteration < Math.min(loop.maxIterations, isCounted ? (roundsOf(loop, frame) ?? 0) : Infinity);
}

/**
 * How many steps follow the pending one; `undefined` while that is undecided: a condition ahead asks for a value that is
 * not set yet, or a condition or a decision ends a loop.
 */
export function stepsAhead(
  index: WorkflowIndex,
  state: Extract<EngineState, { kind: 'running' }>,
  facts: Pick<RunFacts, 'context' | 'compilePattern'>,
): number | undefined {
  const asked = conditionFacts({ index, facts, loopVariables: loopVariablesAt(index, state) });
  let ahead = countFrom(index, index.workflow.entries, { from: state.cursor + 1, asked });
  for (const frame of state.loopStack) {
    const loop = loopOf(index, frame.loopId);
    const rounds = roundsOf(loop, frame);
    const rest = countFrom(index, loop.body, { from: frame.bodyIndex + 1, asked });
    const left = rounds === undefined ? undefined : rounds - frame.iteration - 1;
    // Conditions inside may ask for the item of a later round, which is not looked at here.
    const whole = left === 0 ? 0 : countFrom(index, loop.body, { from: 0, asked: withoutItems(asked) });
    if (ahead === undefined || rest === undefined || left === undefined || whole === undefined) return undefined;
    ahead += rest + left * whole;
  }
  return ahead;
}

type Count = { readonly from: number; readonly asked: Facts };

function countFrom(index: WorkflowIndex, entries: readonly Entry[], { from, asked }: Count): number | undefined {
  let count = 0;
  for (let i = from; i < entries.length; i += 1) {
    const here = countAt(index, entries, { from: i, asked });
    if (here === undefined) return undefined;
    count += here;
  }
  return count;
}

function countAt(index: WorkflowIndex, entries: readonly Entry[], { from, asked }: Count): number | undefined {
  const entry = entries[from];
  if (entry === undefined) return 0;
  const { runCondition } = entryPart(index, entry);
  const conditions = [...guardsOver(entries, from), ...(runCondition === undefined ? [] : [runCondition])];
  const open = conditions.filter((condition) => unsetKeys(condition, asked).length > 0);
  const decided = conditions.filter((condition) => !open.includes(condition));
  if (!decided.every((condition) => evaluateCondition(condition, asked))) return 0;
  if (open.length > 0) return undefined;
  if (entry.kind === 'step') return 1;
  const loop = loopOf(index, entry.loopId);
  const range = readRange(loop, asked);
  const rounds = range.isErr() ? undefined : roundsOf(loop, range.value);
  const each = countFrom(index, loop.body, { from: 0, asked: withoutItems(asked) });
  return rounds === undefined || each === undefined ? undefined : rounds * each;
}

function withoutItems(asked: Facts): Facts {
  return { ...asked, loopVariables: {} };
}
