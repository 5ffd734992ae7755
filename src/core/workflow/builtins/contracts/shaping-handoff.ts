import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { text, texts } from '../contract-fields.ts';

export const shapingHandoff = defineContract({
  name: 'shaping_handoff',
  purpose: 'Hands a shaped piece of work on to whoever builds it.',
  lead: 'what to build, how much it is worth, and where to stop.',
  fields: {
    version: z.literal(1),
    pitchPath: text.describe('where the pitch is written, or "none"'),
    selectedShape: text,
    appetite: text.describe('the effort it is worth, such as "two days"'),
    keyConstraints: texts(8),
    rabbitHoles: texts(6).describe('where time could be lost'),
    outOfScope: texts(6),
    validationChecklist: texts(10).describe('what shows that it is done'),
  },
  example: {
    version: 1,
    pitchPath: 'docs/pitches/draft-merge.md',
    selectedShape: 'One merge view that opens only on a conflict.',
    appetite: 'three days',
    keyConstraints: ['Works without a network.'],
    rabbitHoles: ['Merging inside of tables.'],
    outOfScope: ['Comments'],
    validationChecklist: ['Two people edit one paragraph and nothing is lost.'],
  },
  rendererHint: 'handoff',
});
