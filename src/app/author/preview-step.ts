import { err, ok, type Result } from 'neverthrow';
import { defined, type JsonObject } from '../../core/json/json-value.ts';
import { type Autonomy, PRESETS } from '../../core/log/autonomy.ts';
import { fillReply, type GivenReply } from '../../core/log/operation/stored-reply.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import { replyWarning } from '../../core/prompt/reply-warnings.ts';
import { evaluateCondition } from '../../core/run/condition/evaluate-condition.ts';
import { nextStep, pendingStepAt, stateAtStep } from '../../core/run/walk/next-step.ts';
import { loopVariablesAt } from '../../core/run/walk/walking.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { indexWorkflow, positionOf } from '../../core/workflow/compiled/workflow-index.ts';
import { conditionText } from '../../core/workflow/outline/condition-text.ts';
import type { ReferencePlaces } from '../ports/workspace-observer.ts';
import { shownGoal } from '../run/advance-reply.ts';
import { patternsFor } from '../run/run-place.ts';
import type { Services } from '../services.ts';

export type PreviewRequest = {
  readonly stepId: string;
  readonly context: JsonObject;
  readonly mode: Autonomy;
  /** Where the documents of the workflow are looked for. */
  readonly places: ReferencePlaces;
};

export type PreviewedStep = {
  /** The reply that an agent gets at this step, with placeholders for its tokens. */
  readonly reply: GivenReply;
  /** The conditions that would skip the step in this context. */
  readonly failing: readonly string[];
};

export type PreviewRefusal = {
  readonly code: 'step_unknown';
  readonly stepId: string;
  readonly known: readonly string[];
};

/** Placeholders for tokens. */
const PLACEHOLDERS = { stateToken: 'st_…', ackToken: 'ack_…', checkpointToken: 'chk_…', sessionId: 'sess_…' };

/** Renders what an agent gets at a step, by the same code as in a run. Nothing is run. */
export async function previewStep(
  services: Services,
  workflow: CompiledWorkflow,
  { stepId, context, mode, places }: PreviewRequest,
): Promise<Result<PreviewedStep, PreviewRefusal>> {
  const index = indexWorkflow(workflow);
  const standing = stateAtStep(index, stepId, context);
  if (standing === undefined) {
    return err({ code: 'step_unknown', stepId, known: workflow.steps.map((step): string => step.stepId) });
  }
  const { state, conditions } = standing;
  const compilePattern = await patternsFor(services, workflow);
  const facts = { context, preferences: PRESETS[mode], capabilities: {}, compilePattern };
  const loopVariables = loopVariablesAt(index, state);
  const asked = { context, loopVariables, conditions: index.conditions, compilePattern };
  const failing = conditions
    .filter((condition) => !evaluateCondition(condition, asked))
    .map((condition) => conditionText(condition, workflow.conditions));
  const runId = services.ids.run();
  const first = nextStep({ index, state: { kind: 'init' }, facts, loopDecision: undefined, onTrouble: 'halt' }).state;
  const begins = first.kind === 'running' && pendingStepAt(index, first)?.step.stepId === stepId;
  const goal = begins ? shownGoal(context['goal']) : { warnings: [] };
  const references = begins ? await services.references.find(workflow.references, places) : [];
  const parts = {
    runId,
    index,
    state,
    facts,
    line: { stepNumber: positionOf(index, stepId), skipped: [] },
    lifecycle: begins ? ('start' as const) : ('advance' as const),
    warnings: goal.warnings.map((fact) => replyWarning(fact, facts.preferences.riskPolicy)),
    gaps: [],
    ...defined({ goal: goal.text }),
    ...(references.length === 0 ? {} : { references }),
  };
  return ok({ reply: fillReply(stepReply(parts), PLACEHOLDERS), failing });
}
