import type { JsonObject } from '../../json/json-value.ts';
import type { EngineState, LoopFrame } from '../../log/execution-snapshot.ts';
import type { Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { loopOf, stepOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { readRange } from './loop-range.ts';
import { stackVariables } from './loop-variables.ts';
import { loopPathOf } from './walking.ts';

/** Where a run stands that has come to a step, in the first iteration of every loop around it. */
export type StepStanding = {
  readonly state: Extract<EngineState, { kind: 'running' }>;
  /** All that decides whether the step is due, the outermost first. */
  readonly conditions: readonly Condition[];
};

type Way = { readonly stack: readonly LoopFrame[]; readonly cursor: number; readonly conditions: readonly Condition[] };

/** The state in which a step is pending, for looking at it without running what comes before. */
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
