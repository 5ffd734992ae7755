import type { JsonObject } from '../../../json/json-value.ts';
import { SUMMARY_BYTES_MAX } from '../../../log/budgets.ts';
import { DIVERGENCE_REASONS } from '../../../log/events/divergence-recorded.ts';
import { textSchema } from '../../../log/field-schemas.ts';
import { stepIdSchema } from '../../../log/ids.ts';
import { workflowDivergence } from '../../../workflow/builtins/contracts/workflow-divergence.ts';
import type { StepAttempt } from '../../step-place.ts';
import { engineContract } from '../judge-artifact.ts';
import type { StepCheck } from '../step-check.ts';
import { type ArtifactsRead, readArtifacts } from './reading.ts';

type Divergence = StepCheck['divergences'][number];

/** Every departure from the instructions that an attempt owns up to. */
export function readDivergences({ index, handedIn }: StepAttempt): ArtifactsRead<Divergence> {
  return readArtifacts(handedIn.artifacts, engineContract(index, workflowDivergence), {
    objection: (value) => (divergenceOf(value) === undefined ? 'reason or summary cannot be recorded' : undefined),
    take: divergenceOf,
  });
}

const summarySchema = textSchema(SUMMARY_BYTES_MAX);

/** As an event takes it. A step id that no step can have is left out: the departure itself is what matters. */
function divergenceOf(value: JsonObject): Divergence | undefined {
  const reason = DIVERGENCE_REASONS.find((known) => known === value['reason']);
  const summary = summarySchema.safeParse(value['summary']);
  const relatedStepId = stepIdSchema.safeParse(value['relatedStepId']);
  if (reason === undefined || !summary.success) return undefined;
  return { reason, summary: summary.data, ...(relatedStepId.success ? { relatedStepId: relatedStepId.data } : {}) };
}
