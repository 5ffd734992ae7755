import type { CommandEntry } from '../../command-entry.ts';

export const SERVER_COMMANDS: readonly CommandEntry[] = [
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
    // It reads them itself, for a client that never sees what a command says.
    needsNoConfig: true,
    load: async () => (await import('../../serve.ts')).serveCommand,
  },
];
