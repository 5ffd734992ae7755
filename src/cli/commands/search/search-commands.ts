import type { CommandEntry } from '../../command-entry.ts';

export const SEARCH_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'search',
    summary: 'find sessions by words of their goals, notes and artifacts',
    operands: { syntax: '<words...>', help: 'words that a session must hold, all of them' },
    options: [{ flags: '--all', help: 'read every session, and show every one that is found' }],
    example: 'workrail search empty cart',
    load: async () => (await import('../../search.ts')).search,
  },
];
