import type { CommandEntry } from '../command.ts';

const ID_HELP = 'session id: whole, the beginning, the end, or the tag of a run';

export const UPKEEP_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'session',
    verb: 'close',
    summary: 'say that runs are done with, so that no agent is offered them any more; going on opens them again',
    operands: { syntax: '<id>', help: ID_HELP },
    options: [
      { flags: '--run <tag>', help: 'only this run of the session' },
      { flags: '--undo', help: 'open them again' },
    ],
    example: 'workrail session close 7f3a',
    load: async () => (await import('./session-close.ts')).sessionClose,
  },
  {
    group: 'session',
    verb: 'keep',
    summary: 'exempt sessions from gc, however old they get',
    operands: { syntax: '<id...>', help: ID_HELP },
    options: [{ flags: '--undo', help: 'let gc have them again' }],
    example: 'workrail session keep 7f3a',
    load: async () => (await import('./session-keep.ts')).sessionKeep,
  },
  {
    group: 'session',
    verb: 'delete',
    summary: 'move sessions to the bin; gc empties it after 30 days',
    operands: { syntax: '[id...]', help: ID_HELP },
    options: [
      { flags: '--yes', help: 'do not ask' },
      { flags: '--undo', help: 'bring them back from the bin; without an id: show what is in it' },
    ],
    example: 'workrail session delete 7f3a',
    load: async () => (await import('./session-delete.ts')).sessionDelete,
  },
  {
    group: 'session',
    verb: 'prefer',
    summary: 'change how the runs of a session go on, from their next step',
    operands: { syntax: '<id>', help: ID_HELP },
    furtherOperands: [{ syntax: '[mode]', help: 'guided, full_auto_stop_on_user_deps or full_auto_never_stop' }],
    options: [
      { flags: '--risk <policy>', help: 'conservative, balanced or aggressive: how much advice comes with warnings' },
      { flags: '--run <tag>', help: 'only this run of the session' },
    ],
    example: 'workrail session prefer 7f3a full_auto_never_stop',
    load: async () => (await import('./session-prefer.ts')).sessionPrefer,
  },
  {
    verb: 'gc',
    summary: 'remove sessions that nobody wrote to for long, and what no session needs any more',
    options: [
      { flags: '--dry-run', help: 'say what would go, and remove nothing' },
      { flags: '--older-than <time>', help: 'sessions not written to for so long, like 30d or 8w (default: 90d)' },
      { flags: '--empty-bin', help: 'take everything out of the bin for good' },
      { flags: '--yes', help: 'do not ask before the bin is emptied' },
    ],
    example: 'workrail gc --dry-run',
    load: async () => (await import('./gc.ts')).gc,
  },
];
