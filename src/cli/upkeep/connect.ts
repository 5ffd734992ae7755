import { err, ok, type Result } from 'neverthrow';
import type { Command } from '../command.ts';
import { dim } from '../output/line.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** Whether nobody on the way can read or change what is sent: https, or this machine itself. */
export function isSafeUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOCAL.includes(hostname));
}

const SPACE = /^\/s\/[^/]+(?:\/mcp)?\/?$/;

export const connect: Command = {
  operands: [{ syntax: '<url>', help: 'the address of a space: https://HOST/s/SPACE' }],
  example: 'claude mcp add workrail -- workrail connect https://rail.example/s/shop',
  needsNoConfig: true,
  run: async ({ program, say }, { operands: [address = ''] }) => {
    const url = spaceAddress(address);
    if (url.isErr()) return err(url.error);
    const connected = await program.connect(url.value);
    if (connected.isErr()) return err(TOKEN_MISSING);
    if (program.terminal.isInput()) {
      say([`Passing MCP on to ${url.value.href}, for an agent client. Press Ctrl-C to stop.`]);
      say([dim(`To register it: claude mcp add workrail -- workrail connect ${address}`)]);
    }
    return ok({ kind: 'serving' });
  },
};

const TOKEN_MISSING = usageProblem(
  'WORKRAIL_TOKEN is not set, so the team server would not know you.',
  'Ask an admin of the space for a token (workrail token create), and set WORKRAIL_TOKEN in the environment of the client.',
);

/** The MCP address of a space, for any way to write the space's address. */
export function spaceAddress(text: string): Result<URL, CommandProblem> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isSafeUrl(url) || !SPACE.test(url.pathname)) {
    return err(
      usageProblem(`"${text}" is not the address of a space.`, 'Use https://HOST/s/SPACE; http only on localhost.'),
    );
  }
  const path = url.pathname.replace(/\/$/, '');
  return ok(new URL(path.endsWith('/mcp') ? path : `${path}/mcp`, url));
}
