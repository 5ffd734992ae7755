import type { CommandEntry } from '../../command-entry.ts';

export const KEYS_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'keys',
    verb: 'rotate',
    summary: 'sign tokens with a fresh key from now on; tokens of the key before still work',
    options: [{ flags: '--yes', help: 'ask nothing, also when tokens of an older key end with it' }],
    example: 'workrail keys rotate',
    load: async () => (await import('../../keys.ts')).keysRotate,
  },
  {
    group: 'keys',
    verb: 'status',
    summary: 'show which keys there are, by their fingerprints',
    example: 'workrail keys status',
    load: async () => (await import('./status-keys.ts')).keysStatus,
  },
];
