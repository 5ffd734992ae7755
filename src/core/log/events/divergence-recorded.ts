import * as z from 'zod';
import { SUMMARY_BYTES_MAX } from '../budgets.ts';
import { textSchema } from '../field-schemas.ts';
import { DivergenceId, stepIdSchema } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

export const DIVERGENCE_REASONS = [
  'missing_user_context',
  'capability_unavailable',
  'efficiency_skip',
  'safety_stop',
  'policy_constraint',
] as const;

/** The agent left the instructions on purpose and said why. */
export const divergenceRecordedSchema = eventSchema(
  'divergence_recorded',
  nodeScope,
  z.object({
    divergenceId: DivergenceId.schema,
    reason: z.enum(DIVERGENCE_REASONS),
    summary: textSchema(SUMMARY_BYTES_MAX),
    relatedStepId: stepIdSchema.optional(),
  }),
);
