import * as z from 'zod';
import { capabilitySchema, capabilityStatusSchema } from '../capabilities.ts';
import { eventSchema, nodeScope } from '../event-envelope.ts';
import { CapabilityObservationId, stepIdSchema } from '../ids.ts';

const FAILURE_CODES = ['tool_missing', 'tool_error', 'policy_blocked', 'unknown'] as const;

const attemptContextSchema = z.enum(['workflow_step', 'system_probe']);

/** How we know. Only a probe or a real attempt is strong; what an agent merely says never unlocks anything. */
export const capabilityProvenanceSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('probe_step'),
    enforcementGrade: z.literal('strong'),
    detail: z.object({
      probeTemplateId: z.string().min(1),
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
  z.object({
    capObsId: CapabilityObservationId.schema,
    capability: capabilitySchema,
    status: capabilityStatusSchema,
    provenance: capabilityProvenanceSchema,
  }),
);
