import { defineRef } from '../refs.ts';

export const memoryStoreRef = defineRef({
  name: 'memory_store',
  purpose: 'Steps at which something should be remembered beyond the run.',
  text: [
    'If you have a memory tool, store what would have saved you time had you known it before:',
    '- decisions that bind later work, each with its reason;',
    '- traps: what looks right here and is wrong;',
    '- where things are, when it took a search to find them;',
    '- wishes of the user that hold beyond this task.',
    '',
    'One fact for each entry, in a sentence that stands alone, with the project and the place it concerns. If an entry on the matter exists, correct it instead of adding a second one.',
    '',
    'Do not store secrets, personal data, guesses, progress, or what any reader of the code sees at once. Nothing worth storing is a good answer. Say in the notes what you stored.',
  ],
});
