import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { confidence, text } from '../contract-fields.ts';

const RATIONALE_LENGTH_MIN = 20;

export const gateVerdict = defineContract({
  name: 'gate_verdict',
  purpose: 'The word of whoever decides whether the work may pass a gate.',
  lead: 'only approved lets the work pass; say uncertain when you cannot tell.',
  fields: {
    version: z.literal(1),
    verdict: z.enum(['approved', 'rejected', 'uncertain']),
    confidence,
    rationale: text.min(RATIONALE_LENGTH_MIN).describe('what you looked at and what decided it'),
  },
  example: {
    version: 1,
    verdict: 'rejected',
    confidence: 'high',
    rationale: '<what you looked at, and what decided it>',
  },
  rendererHint: 'verdict',
});
