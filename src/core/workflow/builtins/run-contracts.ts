import * as z from 'zod';
import { defineContract } from './contract.ts';
import { text } from './contract-fields.ts';

export const loopControl = defineContract({
  name: 'loop_control',
  purpose: 'Decides whether a loop goes round again.',
  lead: 'decide from what this round really changed, not from how many rounds there were.',
  fields: {
    loopId: text.optional().describe('the loop meant, when several are open'),
    decision: z.enum(['continue', 'stop']).describe('continue starts another round'),
    summary: text.optional().describe('what the decision rests on'),
    metadata: z.looseObject({}).optional(),
  },
  example: { decision: 'stop', summary: '<what is done, and what is open>' },
  rendererHint: 'verdict',
});
