import type { RunCommand } from './command.ts';

/** Words that only stand before others. */
export const COMMAND_GROUPS = {
  session: { summary: 'look after recorded sessions', example: 'workrail session verify' },
} as const;
export type CommandGroup = keyof typeof COMMAND_GROUPS;

/** A command as help shows it; its code is loaded when it is run. */
export type CommandEntry = {
  readonly group?: CommandGroup;
  readonly verb: string;
  readonly summary: string;
  readonly operands?: { readonly syntax: string; readonly help: string };
  readonly options?: readonly { readonly flags: string; readonly help: string }[];
  readonly example: string;
  readonly load: () => Promise<RunCommand>;
};

export const COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'serve',
    summary: 'serve MCP on standard input and output, which is what an agent client starts, or over HTTP',
    options: [
      { flags: '--stdio', help: 'use standard input and output (the default)' },
      { flags: '--http [port]', help: 'use HTTP on 127.0.0.1 instead, for this machine only' },
      { flags: '--port <port>', help: 'the port for --http; 0 takes any that is free' },
      { flags: '--log', help: 'write a line of JSON to standard error for every call (WORKRAIL_LOG=1 does the same)' },
    ],
    example: 'claude mcp add workrail -- workrail serve',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    group: 'session',
    verb: 'verify',
    summary: 'check every stored byte of all sessions, or of those named; repairs nothing',
    operands: { syntax: '[id...]', help: 'session ids: whole, the beginning, the end, or the tag of a run' },
    example: 'workrail session verify --json',
    load: async () => (await import('./commands/session-verify.ts')).sessionVerify,
  },
  {
    verb: 'export',
    summary: 'write a session to a file that another machine can import and go on with',
    operands: { syntax: '<id>', help: 'a session id: whole, the beginning, the end, or the tag of a run' },
    options: [
      { flags: '--as <format>', help: 'bundle: one JSON file with all that the session needs (the default)' },
      { flags: '-o, --output <file>', help: 'the file; without it the bundle goes to standard output' },
    ],
    example: 'workrail export 7f3a --as bundle -o session.json',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    verb: 'import',
    summary: 'take in a session from a bundle; everything is checked before anything is written',
    operands: { syntax: '<file>', help: 'a bundle that workrail export made' },
    options: [{ flags: '--dry-run', help: 'check it and say what would be done' }],
    example: 'workrail import session.json --dry-run',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  {
    verb: 'version',
    summary: 'print the version',
    example: 'workrail version --json',
    load: async () => (await import('./commands/version.ts')).version,
  },
];

/** The words that call a command. */
export function commandName({ group, verb }: Pick<CommandEntry, 'group' | 'verb'>): string {
  return group === undefined ? verb : `${group} ${verb}`;
}
