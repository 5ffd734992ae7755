import type { CommandEntry } from '../../command-entry.ts';

export const EXCHANGE_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'export',
    summary: 'write a session to a file: to go on with elsewhere, or to read',
    operands: { syntax: '<id...>', help: 'session ids; each whole, the beginning, the end, or the tag of a run' },
    options: [
      {
        flags: '--as <format>',
        help: 'bundle: one session to import elsewhere (the default); md, html or json: a report of one or more to read',
      },
      { flags: '-o, --output <file>', help: 'the file; without it everything goes to standard output' },
      { flags: '--no-redact', help: 'hide nothing in a report: neither paths and addresses nor keys and passwords' },
    ],
    example: 'workrail export 7f3a --as html -o report.html',
    load: async () => (await import('../../bundle/export.ts')).exportCommand,
  },
  {
    verb: 'import',
    summary: 'take in a session from a bundle; everything is checked before anything is written',
    operands: { syntax: '<file>', help: 'a bundle that workrail export made' },
    options: [{ flags: '--dry-run', help: 'check it and say what would be done' }],
    example: 'workrail import session.json --dry-run',
    load: async () => (await import('../../bundle/import.ts')).importCommand,
  },
];
