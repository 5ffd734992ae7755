import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { confidence, SEVERITIES, text } from '../contract-fields.ts';

export const reviewVerdict = defineContract({
  name: 'review_verdict',
  purpose: 'The outcome of a review with the findings behind it.',
  lead: 'the verdict follows from the findings, and every finding can be pointed at.',
  fields: {
    verdict: z.enum(['clean', 'minor', 'blocking']).describe('blocking if any finding is critical or major'),
    confidence: confidence.describe('low if you could not see all that matters'),
    findings: z
      .array(z.looseObject({ severity: z.enum(SEVERITIES), summary: text }))
      .describe('empty when clean; add file, line or suggestion where they help'),
    summary: text,
  },
  example: {
    verdict: 'blocking',
    confidence: 'high',
    findings: [
      {
        severity: 'major',
        summary: '<what is wrong, and what comes of it>',
        file: '<path of the file>',
        line: 1,
      },
    ],
    summary: '<what the verdict rests on>',
  },
  rendererHint: 'verdict',
});
