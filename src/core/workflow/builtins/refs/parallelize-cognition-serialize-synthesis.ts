import { defineRef } from '../refs.ts';

export const parallelizeCognitionSerializeSynthesis = defineRef({
  name: 'parallelize_cognition_serialize_synthesis',
  purpose: 'Steps that split thinking among several minds and need one answer.',
  text: [
    'Look from several sides at once; conclude in one place.',
    '',
    'Apart: give each view the same facts and a question of its own. No view sees the answers of the others, or they all become the first one. Ask for claims with evidence, for what would refute them, and for what was not looked at. Without subagents, take the views one after the other and finish writing each before you begin the next.',
    '',
    'Together: one mind, you, reads everything, removes duplicates, checks what matters at the source and decides. Changes to files, the final text and every decision are made here, one at a time. Two hands on one file, or two decisions on one question, cost more than was saved.',
    '',
    'A view that returned nothing new is worth a line: it tells how far the search went.',
  ],
});
