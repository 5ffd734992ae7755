import { SUMMARY_BYTES_MAX } from '../../../log/budgets.ts';
import { capabilitySchema, capabilityStatusSchema } from '../../../log/capabilities.ts';
import { defineContract } from '../contract.ts';
import { shortText } from '../contract-fields.ts';

export const capabilityObservation = defineContract({
  name: 'capability_observation',
  purpose: 'Reports whether the agent can delegate or browse the web, as seen in an attempt.',
  lead: 'report what happened when you tried, not what you expect.',
  fields: {
    capability: capabilitySchema,
    status: capabilityStatusSchema.describe('unknown only if no attempt was possible'),
    detail: shortText(SUMMARY_BYTES_MAX).optional().describe('what you tried and what came back'),
  },
  example: { capability: 'web_browsing', status: 'available', detail: '<what you tried, and what came back>' },
  rendererHint: 'verdict',
});
