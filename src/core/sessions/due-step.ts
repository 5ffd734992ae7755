import type { JsonObject } from '../json/json-value.ts';
import { type ExecutionSnapshot, isComplete, pendingStep } from '../log/execution-snapshot.ts';
import type { StepId } from '../log/ids.ts';
import type { LoopPath } from '../log/step-instance-key.ts';
import { gapStep } from '../prompt/reply/gap-lines.ts';
import { titleWithoutValues, valueFiller } from '../prompt/step/fill-values.ts';
import { loopVariablesAt } from '../run/walk/loop-range.ts';
import { isSnapshotOf } from '../run/walk/pending-step.ts';
import { truncate } from '../text/utf8.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../workflow/compiled/workflow-index.ts';

/** What is due at a node. */
export type DuePlace =
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

/** What a snapshot is read with. */
type StepKnown = {
  readonly workflow: CompiledWorkflow | undefined;
  /** The context of its node, which titles may ask for; looked up only when one does. */
  readonly contextOf?: () => JsonObject;
};

/** What is due at the node of a snapshot. Without its workflow a step is known by its id alone. */
export function duePlace(snapshot: ExecutionSnapshot, { workflow, contextOf }: StepKnown): DuePlace {
  if (isComplete(snapshot)) return { kind: 'complete' };
  const pending = pendingStep(snapshot);
  if (pending === undefined) return { kind: 'start' };
  const { stepId, loopPath } = pending;
  const named = namedStep(stepId, workflow);
  const title = workflow === undefined ? undefined : filledTitle(snapshot, workflow, contextOf);
  return { kind: 'step', stepId, ...named, ...(title === undefined ? {} : { title }), loopPath };
}

/** A title with the values of its round, as the reply told it; none where it asks for no value or one is not set. */
function filledTitle(
  snapshot: ExecutionSnapshot,
  workflow: CompiledWorkflow,
  contextOf: StepKnown['contextOf'],
): string | undefined {
  const { state } = snapshot.enginePayload;
  const index = indexWorkflow(workflow);
  const title = index.steps.get(pendingStep(snapshot)?.stepId ?? '')?.title;
  // What is looked at may be damaged, and the loops of another workflow have no items here.
  if (title === undefined || titleWithoutValues(title) === title || !isSnapshotOf(workflow, snapshot)) return undefined;
  const filler = valueFiller({ context: contextOf?.() ?? {}, loopVariables: loopVariablesAt(index, state) });
  const filled = filler.fillLine(title);
  return filler.unset.size > 0 ? undefined : truncate(filled, TITLE_BYTES_MAX);
}

const TITLE_BYTES_MAX = 200;

/** The place of a step that a gap was left at. */
export function gapPlace(details: JsonObject | undefined, workflow: CompiledWorkflow | undefined): DueStep | undefined {
  const found = workflow === undefined ? undefined : gapStep(details, indexWorkflow(workflow));
  if (found === undefined) return undefined;
  const { step, loopPath } = found;
  return { kind: 'step', stepId: step.stepId, ...namedStep(step.stepId, workflow), loopPath };
}

/** What a step is called, and where it stands. */
export function namedStep(stepId: string, workflow: CompiledWorkflow | undefined): Pick<DueStep, 'title' | 'position'> {
  const index = workflow === undefined ? undefined : indexWorkflow(workflow);
  // A loop that was passed by goes by its own id.
  const title = index?.steps.get(stepId)?.title ?? index?.loops.get(stepId)?.title;
  return {
    title: title === undefined ? stepId : titleWithoutValues(title),
    position: index?.positions.get(stepId),
  };
}
