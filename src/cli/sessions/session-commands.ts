import type { CommandEntry } from '../command.ts';

const ONE_SESSION = {
  syntax: '[id]',
  help: 'the session: its id, the beginning or end of it, or the tag of a run; the one last worked on here when left out',
};

/** The commands that look at sessions and change nothing. */
const LOOK_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'session',
    verb: 'list',
    summary: 'list sessions, newest first',
    options: [
      { flags: '--here', help: 'only those of this folder or repository' },
      { flags: '--all', help: 'all of them, not only the newest' },
      {
        flags: '--state <states>',
        help: 'only these: running, blocked, complete, closed, salvaged, damaged; several with commas',
      },
      { flags: '--limit <number>', help: 'how many to show (20)' },
    ],
    example: 'workrail session list --here --state running,blocked',
    load: async () => (await import('./session-list.ts')).sessionList,
  },
  {
    group: 'session',
    verb: 'show',
    summary: 'show where a session stands and what is in its way',
    operands: ONE_SESSION,
    example: 'workrail session show 7f3a',
    load: async () => (await import('./session-show.ts')).sessionShow,
  },
  {
    group: 'session',
    verb: 'tree',
    summary: 'draw what was done, with branches, blocks, checkpoints and skipped steps',
    operands: ONE_SESSION,
    example: 'workrail session tree 7f3a',
    load: async () => (await import('./session-tree.ts')).sessionTree,
  },
  {
    group: 'session',
    verb: 'notes',
    summary: 'print notes and artifacts in order, step by step',
    operands: ONE_SESSION,
    options: [{ flags: '--step <step>', help: 'only this step: its number, its id or words of its title' }],
    example: 'workrail session notes 7f3a --step 2',
    load: async () => (await import('./session-notes.ts')).sessionNotes,
  },
  {
    group: 'session',
    verb: 'diff',
    summary: 'compare two branches, steps or nodes: notes, artifacts, context, gaps',
    operands: { syntax: '<id>', help: 'the session, or the tag of a run' },
    furtherOperands: [
      { syntax: '<a>', help: 'a branch (main, A, B), a step as it was left (number or id), or a node' },
      { syntax: '<b>', help: 'what to compare it with' },
    ],
    example: 'workrail session diff 7f3a A main',
    load: async () => (await import('./session-diff.ts')).sessionDiff,
  },
  {
    group: 'session',
    verb: 'resume',
    summary: 'print text that brings a new chat back to a session when pasted',
    operands: ONE_SESSION,
    options: [{ flags: '--at <step>', help: 'go back to this step instead: its number, its id or words of its title' }],
    example: 'workrail session resume 7f3a --at 2',
    load: async () => (await import('./session-resume.ts')).sessionResume,
  },
];

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
