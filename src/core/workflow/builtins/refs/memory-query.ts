import { defineRef } from '../refs.ts';

export const memoryQueryRef = defineRef({
  name: 'memory_query',
  purpose: 'Steps that should begin with what earlier tasks have taught.',
  text: [
    'If you have a memory tool, ask it before you look elsewhere:',
    '1. the project and the part of it you will touch;',
    '2. the goal in a few words, and once more in other words;',
    '3. names you expect to meet: modules, commands, error messages.',
    '',
    'Stop after three questions without a useful answer. For each entry you mean to rely on, check that it still holds: open the file, run the command. Correct or remove an entry that proved wrong, if the tool lets you.',
    '',
    'Write into the notes what you took over, what you checked it against, and what proved out of date. If there is no such tool, or it fails, go on without.',
  ],
});
