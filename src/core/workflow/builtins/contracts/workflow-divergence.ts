import * as z from 'zod';
import { SUMMARY_BYTES_MAX } from '../../../log/budgets.ts';
import { DIVERGENCE_REASONS } from '../../../log/events/divergence-recorded.ts';
import { stepIdSchema } from '../../../log/ids.ts';
import { defineContract } from '../contract.ts';
import { shortText } from '../contract-fields.ts';

const stepId = z.string().refine((value) => stepIdSchema.safeParse(value).success);

export const workflowDivergence = defineContract({
  name: 'workflow_divergence',
  purpose: 'Says that the agent left the instructions on purpose, and why.',
  lead: 'say openly what you did differently.',
  fields: {
    reason: z.enum(DIVERGENCE_REASONS),
    summary: shortText(SUMMARY_BYTES_MAX).describe('what was asked, what you did instead, and why'),
    relatedStepId: stepId.meta({ format: 'id' }).optional().describe('the step concerned, if not this one'),
  },
  example: {
    reason: 'efficiency_skip',
    summary: '<what was asked, what you did instead, and why>',
  },
  rendererHint: 'plain',
});
