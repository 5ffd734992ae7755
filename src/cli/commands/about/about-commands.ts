import type { CommandEntry } from '../../command-entry.ts';

export const ABOUT_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'version',
    summary: 'print the version',
    example: 'workrail version --json',
    needsNoConfig: true,
    load: async () => (await import('../../version.ts')).version,
  },
];
