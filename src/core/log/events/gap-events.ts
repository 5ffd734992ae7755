import * as z from 'zod';
import { type CapabilityStatus, capabilitySchema, capabilityStatusSchema } from '../blockers.ts';
import { DETAILS_BYTES_MAX, SUMMARY_BYTES_MAX, TEMPLATE_ID_BYTES_MAX } from '../budgets.ts';
import { detailsSchema, nonBlankSchema, textSchema } from '../document-schema.ts';
import { CapabilityObservationId, DivergenceId, EventId, GapId, OutputId, stepIdSchema } from '../ids.ts';
import { DIVERGENCE_REASONS, FAILURE_CODES, GAP_DETAILS } from '../reasons.ts';
import { eventSchema, nodeEvent, nodeScope } from './event-envelope.ts';

export const GAP_SEVERITIES = ['info', 'warning', 'critical'] as const;

const gapReasonSchema = z.discriminatedUnion('category', [
  z.object({
    category: z.literal('user_only_dependency'),
    detail: z.enum(GAP_DETAILS.user_only_dependency),
  }),
  z.object({ category: z.literal('contract_violation'), detail: z.enum(GAP_DETAILS.contract_violation) }),
  z.object({ category: z.literal('capability_missing'), detail: z.enum(GAP_DETAILS.capability_missing) }),
  z.object({ category: z.literal('unexpected'), detail: z.enum(GAP_DETAILS.unexpected) }),
]);

/** What was skipped or assumed. It never changes; a later record on the same line may resolve it. */
export const gapRecordedSchema = nodeEvent('gap_recorded', {
  gapId: GapId.schema,
  severity: z.enum(GAP_SEVERITIES),
  reason: gapReasonSchema,
  summary: textSchema(SUMMARY_BYTES_MAX),
  resolution: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('unresolved') }),
    z.object({ kind: z.literal('resolves'), resolvesGapId: GapId.schema }),
  ]),
  evidenceRefs: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('event'), eventId: EventId.schema }),
        z.object({ kind: z.literal('output'), outputId: OutputId.schema }),
      ]),
    )
    .optional(),
  details: detailsSchema(DETAILS_BYTES_MAX).optional(),
});

/** The agent departed from the instructions on purpose and said why. */
export const divergenceRecordedSchema = nodeEvent('divergence_recorded', {
  divergenceId: DivergenceId.schema,
  reason: z.enum(DIVERGENCE_REASONS),
  summary: textSchema(SUMMARY_BYTES_MAX),
  relatedStepId: stepIdSchema.optional(),
});

export const failureCodeSchema = z.enum(FAILURE_CODES);

const attemptContextSchema = z.enum(['workflow_step', 'system_probe']);

/** How we know. Only a probe or a real attempt is strong; a claim of the agent unlocks nothing. */
export const capabilityProvenanceSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('probe_step'),
    enforcementGrade: z.literal('strong'),
    detail: z.object({
      probeTemplateId: nonBlankSchema(TEMPLATE_ID_BYTES_MAX),
      probeStepId: stepIdSchema,
      result: z.enum(['success', 'failure']),
    }),
  }),
  z.object({
    kind: z.literal('attempted_use'),
    enforcementGrade: z.literal('strong'),
    detail: z.discriminatedUnion('result', [
      z.object({
        attemptContext: attemptContextSchema,
        result: z.literal('success'),
        failureCode: z.never().optional(),
      }),
      z.object({
        attemptContext: attemptContextSchema,
        result: z.literal('failure'),
        failureCode: failureCodeSchema,
      }),
    ]),
  }),
  z.object({
    kind: z.literal('manual_claim'),
    enforcementGrade: z.literal('weak'),
    detail: z.object({
      claimedBy: z.enum(['agent', 'user']),
      claim: z.enum(['available', 'unavailable']),
    }),
  }),
]);
export type CapabilityProvenance = z.infer<typeof capabilityProvenanceSchema>;

/** One observation of a capability; the current status is derived. */
export const capabilityObservedSchema = eventSchema(
  'capability_observed',
  nodeScope,
  z
    .object({
      capObsId: CapabilityObservationId.schema,
      capability: capabilitySchema,
      status: capabilityStatusSchema,
      provenance: capabilityProvenanceSchema,
    })
    .refine(({ status, provenance }) => statusesFrom(provenance).includes(status), {
      path: ['status'],
      error: 'must follow from its provenance',
    }),
);

/** The statuses that an observation allows. Only a failed probe may leave the status unknown. */
function statusesFrom({ kind, detail }: CapabilityProvenance): readonly CapabilityStatus[] {
  if (kind === 'manual_claim') return [detail.claim];
  if (detail.result === 'success') return ['available'];
  return kind === 'probe_step' ? ['unavailable', 'unknown'] : ['unavailable'];
}
