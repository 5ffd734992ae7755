import { assert } from '../assert.ts';
import type { EngineState } from '../log/execution-snapshot.ts';
import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';

/** The state in which a run begins. */
export function firstState(workflow: CompiledWorkflow): EngineState {
  return stateAt(workflow, 0);
}

/** The state after the pending step was done. Selection only walks forward. */
export function nextState(workflow: CompiledWorkflow, state: EngineState): EngineState {
  assert(state.kind === 'running', 'only a running state has a next one');
  return stateAt(workflow, state.cursor + 1);
}

/** The step an agent has to do now, and where it stands in the workflow. */
export function pendingAt(
  workflow: CompiledWorkflow,
  state: EngineState,
): { readonly step: CompiledStep; readonly position: number } | undefined {
  if (state.kind !== 'running') return undefined;
  const step = workflow.steps[state.cursor];
  assert(step !== undefined, 'a running state points at a step');
  return { step, position: state.cursor + 1 };
}

function stateAt(workflow: CompiledWorkflow, cursor: number): EngineState {
  const step = workflow.steps[cursor];
  if (step === undefined) return { kind: 'complete' };
  return {
    kind: 'running',
    cursor,
    completed: { kind: 'set', values: [] },
    loopStack: [],
    pending: { kind: 'some', step: { stepId: step.stepId, loopPath: [] } },
  };
}
