import type { CommandEntry } from '../command-entry.ts';
import { LOOK_COMMANDS } from '../commands/session/look/look-commands.ts';

export const SESSION_COMMANDS: readonly CommandEntry[] = [
  ...LOOK_COMMANDS,
  {
    group: 'session',
    verb: 'verify',
    summary: 'check every stored byte of all sessions, or of those named; repairs nothing',
    operands: { syntax: '[id...]', help: 'session ids: whole, the beginning, the end, or the tag of a run' },
    example: 'workrail session verify --json',
    load: async () => (await import('./session-verify.ts')).sessionVerify,
  },
];
