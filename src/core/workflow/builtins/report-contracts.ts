import * as z from 'zod';
import { defineContract } from './contract.ts';
import { anyCase, location, SEVERITIES, text } from './contract-fields.ts';

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
        location: { file: '<path of the file>', line: 1 },
        title: '<the finding in a few words>',
        rationale: '<what goes wrong, and for whom>',
        suggestion: '<what to do about it>',
      },
    ],
  },
  rendererHint: 'list',
});
