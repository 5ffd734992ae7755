import { type ExecutionSnapshot, isComplete, pendingStep } from '../log/execution-snapshot.ts';
import type { StepId } from '../log/ids.ts';
import type { LoopPath } from '../log/step-instance-key.ts';
import { titleWithoutValues } from '../prompt/step/fill-values.ts';
import { indexWorkflow } from '../run/workflow-index.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';

/** What is due at a node. */
export type StepPlace =
  | DueStep
  /** The run waits for what its first step needs. */
  | { readonly kind: 'start' }
  | { readonly kind: 'complete' }
  /** What would tell is missing or damaged. */
  | { readonly kind: 'untold' };

export type DueStep = {
  readonly kind: 'step';
  readonly stepId: StepId;
  readonly title: string;
  /** Among all steps of the workflow, counted from 1; unknown where the workflow is. */
  readonly position: number | undefined;
  /** Which round of which loop, outermost first. */
  readonly loopPath: LoopPath;
};

/** What is due at the node of a snapshot. Without its workflow a step is known by its id alone. */
export function stepPlace(snapshot: ExecutionSnapshot, workflow: CompiledWorkflow | undefined): StepPlace {
  if (isComplete(snapshot)) return { kind: 'complete' };
  const pending = pendingStep(snapshot);
  if (pending === undefined) return { kind: 'start' };
  const { stepId, loopPath } = pending;
  return { kind: 'step', stepId, ...namedStep(stepId, workflow), loopPath };
}

/** What a step is called, and where it stands. */
export function namedStep(stepId: string, workflow: CompiledWorkflow | undefined): Pick<DueStep, 'title' | 'position'> {
  const index = workflow === undefined ? undefined : indexWorkflow(workflow);
  const title = index?.steps.get(stepId)?.title;
  return {
    title: title === undefined ? stepId : titleWithoutValues(title),
    position: index?.positions.get(stepId),
  };
}
