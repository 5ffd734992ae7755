import { defineRef } from '../refs.ts';

export const contextBesideOutput = defineRef({
  name: 'context_beside_output',
  purpose: 'Steps that classify the work, so that later steps are chosen by it.',
  text: [
    'Send these values as `context`, an argument of its own beside `output` in the same call, with exactly these names and words. They are kept for the whole run and choose the steps that follow; a value that is missing leads to the longer way. If one proves wrong later, send the right one with any later step.',
  ],
});
