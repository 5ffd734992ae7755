import type { JsonObject } from '../json/json-value.ts';
import { type ExecutionSnapshot, isComplete, pendingStep } from '../log/execution-snapshot.ts';
import type { LoopPath, StepId } from '../log/ids.ts';
import { gapStep } from '../prompt/reply/gap-lines.ts';
import { titleWithoutValues, valueFiller } from '../prompt/step/fill-values.ts';
import { isSnapshotOf } from '../run/walk/next-step.ts';
import { loopVariablesAt } from '../run/walk/walking.ts';
import { truncate } from '../text/utf8.ts';
import type { SkippedStep } from '../views/session-view.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../workflow/compiled/workflow-index.ts';

/** What must be done next at a node. */
export type DuePlace =
  | DueStep
  /** The run waits for what its first step requires. */
  | { readonly kind: 'start' }
  | { readonly kind: 'complete' }
  /** Unknown, because the snapshot is missing or damaged. */
  | { readonly kind: 'untold' };

export type DueStep = {
  readonly kind: 'step';
  readonly stepId: StepId;
  readonly title: string;
  /** Counted along the line of the run, as replies do; `undefined` if the workflow is unknown. */
  readonly position: number | undefined;
  /** The iteration of each loop around the step, outermost first. */
  readonly loopPath: LoopPath;
};

/** What is needed to interpret a snapshot. */
type StepKnown = {
  readonly workflow: CompiledWorkflow | undefined;
  /** The context of its node, for placeholders in titles; called only if a title has one. */
  readonly contextOf?: () => JsonObject;
  /** The number of the step along its line. */
  readonly stepNumber: number;
};

/** What is due at the node of a snapshot. Without the workflow, the title of a step is its id. */
export function duePlace(snapshot: ExecutionSnapshot, { workflow, contextOf, stepNumber }: StepKnown): DuePlace {
  if (isComplete(snapshot)) return { kind: 'complete' };
  const pending = pendingStep(snapshot);
  if (pending === undefined) return { kind: 'start' };
  const { stepId, loopPath } = pending;
  const named = namedStep(stepId, workflow);
  const title = workflow === undefined ? undefined : filledTitle(snapshot, workflow, contextOf);
  const position = workflow === undefined ? undefined : stepNumber;
  return { kind: 'step', stepId, ...named, position, ...(title === undefined ? {} : { title }), loopPath };
}

/** A title with its placeholders filled, as the reply showed it; `undefined` if a value is missing or has no room. */
function filledTitle(
  snapshot: ExecutionSnapshot,
  workflow: CompiledWorkflow,
  contextOf: StepKnown['contextOf'],
): string | undefined {
  const { state } = snapshot.enginePayload;
  const index = indexWorkflow(workflow);
  const title = index.steps.get(pendingStep(snapshot)?.stepId ?? '')?.title;
  // The session may be damaged, and a snapshot of another workflow has other loops.
  if (title === undefined || titleWithoutValues(title) === title || !isSnapshotOf(workflow, snapshot)) return undefined;
  const filler = valueFiller({ context: contextOf?.() ?? {}, loopVariables: loopVariablesAt(index, state) }, workflow);
  const filled = filler.fillBare(title);
  return filler.unset.size > 0 || filler.apart.size > 0 ? undefined : truncate(filled, TITLE_BYTES_MAX);
}

const TITLE_BYTES_MAX = 200;

/** The step that has a gap. */
export function gapPlace(
  details: JsonObject | undefined,
  { workflow, stepNumber }: Pick<StepKnown, 'workflow' | 'stepNumber'>,
): DueStep | undefined {
  const found = workflow === undefined ? undefined : gapStep(details, indexWorkflow(workflow));
  if (found === undefined) return undefined;
  const { step, loopPath } = found;
  const position = stepNumber > 0 ? stepNumber : undefined;
  return { kind: 'step', stepId: step.stepId, ...namedStep(step.stepId, workflow), position, loopPath };
}

/** The title of a skipped step, or of the first and the last of several. */
export function skippedTitle(
  { stepId, through }: Pick<SkippedStep, 'stepId' | 'through'>,
  workflow: CompiledWorkflow | undefined,
): string {
  const { title } = namedStep(stepId, workflow);
  return through === undefined ? title : `${title} … ${namedStep(through.stepId, workflow).title}`;
}

/** The title of a step. */
function namedStep(stepId: string, workflow: CompiledWorkflow | undefined): Pick<DueStep, 'title'> {
  const index = workflow === undefined ? undefined : indexWorkflow(workflow);
  // A skipped loop is recorded under its own id.
  const title = index?.steps.get(stepId)?.title ?? index?.loops.get(stepId)?.title;
  return { title: title === undefined ? stepId : titleWithoutValues(title) };
}
