import { defineRef } from '../refs.ts';

export const notesFirstDurability = defineRef({
  name: 'notes_first_durability',
  purpose: 'Steps whose result must survive the chat.',
  text: [
    'Put the result into the notes first, and into files or messages second. The chat may be cut, rewound or lost at any moment; the notes of this step are what the next agent will read.',
    '',
    'Good notes hold:',
    '- what was found or made, with paths, names and numbers;',
    '- each decision with its reason, and the alternative that was dropped;',
    '- what was not done, what failed, and what is still unknown;',
    '- the next thing you would do, if someone else had to do it.',
    '',
    'Do not repeat earlier notes: they are kept. Do not write "see above" or "as discussed": there is no above. When a file holds the detail, give its path and one line on what it says.',
  ],
});
