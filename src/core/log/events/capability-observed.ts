import * as z from 'zod';
import { TEMPLATE_ID_BYTES_MAX } from '../budgets.ts';
import { type CapabilityStatus, capabilitySchema, capabilityStatusSchema } from '../capabilities.ts';
import { nonBlankSchema } from '../field-schemas.ts';
import { CapabilityObservationId, stepIdSchema } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

const FAILURE_CODES = ['tool_missing', 'tool_error', 'policy_blocked', 'unknown'] as const;

const attemptContextSchema = z.enum(['workflow_step', 'system_probe']);

/** How we know. Only a probe or a real attempt is strong; what an agent merely says never unlocks anything. */
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
        failureCode: z.enum(FAILURE_CODES),
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

/** One observation of what the agent can do; the current status is derived. */
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
      error: 'must be what its provenance shows',
    }),
);

/** What an observation can tell. Only a probe that failed may leave the question open. */
function statusesFrom({ kind, detail }: CapabilityProvenance): readonly CapabilityStatus[] {
  if (kind === 'manual_claim') return [detail.claim];
  if (detail.result === 'success') return ['available'];
  return kind === 'probe_step' ? ['unavailable', 'unknown'] : ['unavailable'];
}
