import type { EngineState } from '../../log/execution-snapshot.ts';
import type { LoopId } from '../../log/ids.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import { loopOf, positionOf, stepOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { roundsOf } from './loop-range.ts';

/** A step that is to be done, and where in its workflow it stands. */
export type PendingPlace = {
  readonly step: CompiledStep;
  /** Among all steps there are, counted from 1. */
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

/** What an agent has to do at a state; nothing before the first step is chosen and when all are done. */
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
      return { loopId, title, iteration: frame.iteration + 1, ...(of === undefined ? {} : { of }) };
    }),
  };
}
