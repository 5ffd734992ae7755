import { defined, type JsonObject } from '../../json/json-value.ts';
import type { EngineState, ExecutionSnapshot, LoopFrame } from '../../log/execution-snapshot.ts';
import type { LoopId } from '../../log/ids.ts';
import type { CompiledLoop, Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import {
  indexWorkflow,
  loopOf,
  positionOf,
  stepOf,
  type WorkflowIndex,
} from '../../workflow/compiled/workflow-index.ts';
import { loopPathOf, readRange, roundsOf, stackVariables } from './walking.ts';

/** A pending step, and its position in the workflow. */
export type PendingPlace = {
  readonly step: CompiledStep;
  /** Among all steps, counted from 1. */
  readonly position: { readonly index: number; readonly of: number };
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
    position: { index: positionOf(index, stepId), of: index.workflow.steps.length },
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
      const part = entry.kind === 'step' ? stepOf(index, entry.stepId) : loopOf(index, entry.loopId);
      const conditions = [...here.conditions, ...guardsOver(entries, i), ...own(part.runCondition)];
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

function guardsOver(entries: readonly Entry[], at: number): readonly Condition[] {
  return entries
    .slice(0, at + 1)
    .flatMap(({ guards = [] }, i) => guards.filter((guard) => i + guard.entries > at).map((one) => one.condition));
}

function own(condition: Condition | undefined): readonly Condition[] {
  return condition === undefined ? [] : [condition];
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
