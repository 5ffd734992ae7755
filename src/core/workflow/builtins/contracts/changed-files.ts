import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { anyCase, text } from '../contract-fields.ts';

const changedFile = z.strictObject({ path: text, summary: text, risk: anyCase(['L', 'M', 'H']) });

export const changedFiles = defineContract({
  name: 'changed_files',
  purpose: 'The files of a change, each with what happened to it and how risky that is.',
  lead: 'every file that was changed, added or removed, each once.',
  fields: {
    changedFiles: z.array(changedFile).describe('path from the root of the repository; risk low, medium or high'),
  },
  example: {
    changedFiles: [
      { path: '<path of a file>', summary: '<what changed in it>', risk: 'M' },
      { path: '<path of the next>', summary: '<what changed in it>', risk: 'L' },
    ],
  },
  rendererHint: 'table',
});
