import type { CommandEntry } from '../../command-entry.ts';

export const EXCHANGE_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'export',
    summary: 'write a session to a file that another machine can import and go on with',
    operands: { syntax: '<id>', help: 'a session id: whole, the beginning, the end, or the tag of a run' },
    options: [
      { flags: '--as <format>', help: 'bundle: one JSON file with all that the session needs (the default)' },
      { flags: '-o, --output <file>', help: 'the file; without it the bundle goes to standard output' },
    ],
    example: 'workrail export 7f3a --as bundle -o session.json',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    verb: 'import',
    summary: 'take in a session from a bundle; everything is checked before anything is written',
    operands: { syntax: '<file>', help: 'a bundle that workrail export made' },
    options: [{ flags: '--dry-run', help: 'check it and say what would be done' }],
    example: 'workrail import session.json --dry-run',
    load: async () => (await import('./import.ts')).importCommand,
  },
];
