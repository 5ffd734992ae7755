import * as z from 'zod';
import { capabilitySchema, capabilityStatusSchema } from '../../log/blockers.ts';
import { SUMMARY_BYTES_MAX } from '../../log/budgets.ts';
import { stepIdSchema } from '../../log/ids.ts';
import { DIVERGENCE_REASONS, FAILURE_CODES } from '../../log/reasons.ts';
import { confidence, defineContract, nonEmptyText, openArtifactSchema, shortText } from './contract.ts';

export const loopControl = defineContract({
  name: 'loop_control',
  purpose: 'Decides whether a loop runs another round.',
  lead: 'decide by what this round changed.',
  fields: () => ({
    loopId: nonEmptyText.optional().describe('which loop, when several are open'),
    decision: z.enum(['continue', 'stop']).describe('continue starts another round'),
    summary: nonEmptyText.optional().describe('the reasons for the decision'),
    metadata: z.looseObject({}).optional(),
  }),
  example: { decision: 'stop', summary: '<what is done, and what is open>' },
  rendererHint: 'verdict',
});

const RATIONALE_LENGTH_MIN = 20;

export const gateVerdict = defineContract({
  name: 'gate_verdict',
  purpose: 'The decision whether the work may pass a gate.',
  lead: 'only "approved" lets the work pass; use "uncertain" if you cannot decide.',
  fields: () => ({
    version: z.literal(1),
    verdict: z.enum(['approved', 'rejected', 'uncertain']),
    confidence,
    rationale: nonEmptyText.min(RATIONALE_LENGTH_MIN).describe('what you looked at and what decided it'),
  }),
  example: {
    version: 1,
    verdict: 'rejected',
    confidence: 'high',
    rationale: '<what you looked at, and what decided it>',
  },
  rendererHint: 'verdict',
});

export const capabilityObservation = defineContract({
  name: 'capability_observation',
  purpose: 'Reports whether the agent can delegate or browse the web, as seen in an attempt.',
  lead: 'report what happened when you tried, not what you expect.',
  fields: () => ({
    capability: capabilitySchema,
    status: capabilityStatusSchema.describe('unknown only if no attempt was possible'),
    failureCode: z.enum(FAILURE_CODES).optional().describe('why the attempt failed, if it did'),
    detail: shortText(SUMMARY_BYTES_MAX).optional().describe('what you tried and what came back'),
  }),
  example: { capability: 'web_browsing', status: 'available', detail: '<what you tried, and what came back>' },
  rendererHint: 'verdict',
});

const stepId = z.string().refine((value) => stepIdSchema.safeParse(value).success);

export const workflowDivergence = defineContract({
  name: 'workflow_divergence',
  purpose: 'Reports that the agent deliberately did not follow the instructions, and why.',
  lead: 'say openly what you did differently.',
  fields: () => ({
    reason: z.enum(DIVERGENCE_REASONS),
    summary: shortText(SUMMARY_BYTES_MAX).describe('what was asked, what you did instead, and why'),
    relatedStepId: stepId.meta({ format: 'id' }).optional().describe('the step concerned, if not this one'),
  }),
  example: {
    reason: 'efficiency_skip',
    summary: '<what was asked, what you did instead, and why>',
  },
  rendererHint: 'plain',
});

export const coordinatorSignal = defineContract({
  name: 'coordinator_signal',
  purpose: 'Sends the coordinator a message in a form that agent and coordinator have agreed on.',
  lead: 'put the subject in signalKind and the facts in payload; other fields are allowed.',
  schema: () => openArtifactSchema('coordinator_signal'),
  example: { signalKind: 'needs_input', payload: { question: '<what you need to know>' } },
  rendererHint: 'plain',
});
