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
    pitchPath: '<path of the pitch, or none>',
    selectedShape: '<what to build>',
    appetite: '<the effort it is worth>',
    keyConstraints: ['<what it must keep to>'],
    rabbitHoles: ['<where time could be lost>'],
    outOfScope: ['<what is left out>'],
    validationChecklist: ['<what shows that it is done>'],
  },
  rendererHint: 'handoff',
});
