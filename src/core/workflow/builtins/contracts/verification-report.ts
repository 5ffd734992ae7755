import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { text } from '../contract-fields.ts';

const check = z.strictObject({
  name: text,
  command: text.optional(),
  outcome: z.enum(['pass', 'fail', 'skipped']),
  evidence: text.optional(),
});

export const verificationReport = defineContract({
  name: 'verification_report',
  purpose: 'Lists the checks that were run, with outcome and evidence.',
  lead: 'one entry for each check you ran, failed and skipped ones too.',
  fields: {
    checks: z
      .array(check)
      .min(1)
      .describe('evidence: the line of output that shows the outcome, or why it was skipped'),
    summary: text.describe('what the checks prove, and what they do not'),
  },
  example: {
    checks: [
      {
        name: '<what was checked>',
        command: '<the command>',
        outcome: 'pass',
        evidence: '<the line of output that shows it>',
      },
      { name: '<what was not checked>', outcome: 'skipped', evidence: '<why it was skipped>' },
    ],
    summary: '<what the checks prove, and what they do not>',
  },
  rendererHint: 'table',
});
