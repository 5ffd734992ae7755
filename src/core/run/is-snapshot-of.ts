import type { EngineState, ExecutionSnapshot, LoopFrame } from '../log/execution-snapshot.ts';
import type { CompiledLoop } from '../workflow/compiled/compiled-loop.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow, type WorkflowIndex } from '../workflow/compiled/workflow-index.ts';
import { roundsOf } from './walk/loop-range.ts';

/**
 * Whether a run of a workflow can stand where a snapshot says: its position and its open loops lead to the very step that
 * is pending. The shape of a snapshot says nothing of this, and what its hash attests may have been written by anybody.
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

/** What a loop walks over is kept in its frame where the file does not say it. */
function isRoundOf(loop: CompiledLoop, frame: LoopFrame): boolean {
  const { kind } = loop.control;
  const isCounted = kind === 'for' || kind === 'for_each';
  return frame.iteration < Math.min(loop.maxIterations, isCounted ? (roundsOf(loop, frame) ?? 0) : Infinity);
}
