import type { CommandEntry } from '../../command-entry.ts';

export const STATUS_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'status',
    summary: 'what is running, blocked or waiting for you, here and elsewhere',
    example: 'workrail status',
    load: async () => (await import('../../status.ts')).status,
  },
];
