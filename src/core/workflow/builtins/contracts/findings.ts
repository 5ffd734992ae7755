import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { anyCase, location, SEVERITIES, text } from '../contract-fields.ts';

const finding = z.strictObject({
  severity: anyCase(SEVERITIES),
  location,
  title: text,
  rationale: text,
  suggestion: text,
});

export const findings = defineContract({
  name: 'findings',
  purpose: 'Findings of a review with their place, and comments ready to be posted.',
  lead: 'only what you can point at; an empty list is a fine answer.',
  fields: {
    findings: z.array(finding).describe('line 1 stands for the whole file; rationale: what goes wrong, and for whom'),
    mrComments: z
      .array(z.strictObject({ location, title: text, body: text }))
      .optional()
      .describe('ready to post'),
  },
  example: {
    findings: [
      {
        severity: 'major',
        location: { file: 'src/session/expiry.ts', line: 31 },
        title: 'Expiry is compared in local time',
        rationale: 'Sessions of users west of the server end hours too early.',
        suggestion: 'Compare milliseconds since the epoch.',
      },
    ],
  },
  rendererHint: 'list',
});
