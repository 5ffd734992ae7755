import * as z from 'zod';
import { defineContract } from './contract.ts';
import { remarks, text, texts } from './contract-fields.ts';

export const codingHandoff = defineContract({
  name: 'coding_handoff',
  purpose: 'Hands finished code on to whoever reviews or maintains it.',
  lead: 'what a reviewer cannot see from the diff alone.',
  fields: {
    version: z.literal(1),
    keyDecisions: texts(8).describe('each with its reason'),
    knownLimitations: texts(6).describe('what does not work yet'),
    testsAdded: texts(10),
    filesChanged: texts(20).describe('the most important ones first'),
    branchName: text.optional(),
    correctedAssumptions: remarks.optional().describe('what turned out different from the plan'),
  },
  example: {
    version: 1,
    keyDecisions: ['<what was decided, and why>'],
    knownLimitations: ['<what does not work yet>'],
    testsAdded: ['<test file: what it shows>'],
    filesChanged: ['<path of a file>', '<path of the next>'],
    branchName: '<name of the branch>',
  },
  rendererHint: 'handoff',
});
