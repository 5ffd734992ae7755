import { err, ok, type Result } from 'neverthrow';
import type { Command, CommandContext, CommandInput, CommandOutcome } from './command.ts';
import { dim } from './output/line.ts';
import type { CommandProblem } from './problem.ts';
import type { ServeOptions } from './program.ts';
import { refusalProblem, type ServeTrouble } from './refusal-problem.ts';

const TEAM_OPTIONS = [
  {
    flags: '--database-url <url>',
    help: 'address of the database: postgres://USER@HOST/NAME (set the password in PGPASSWORD)',
  },
  { flags: '--public-url <url>', help: 'where clients reach the server: https, or http on localhost' },
  { flags: '--listen <address>', help: 'HOST:PORT for clients (default: 127.0.0.1:8080)' },
  { flags: '--admin-listen <address>', help: 'HOST:PORT for health and metrics (default: 127.0.0.1:9090)' },
  { flags: '--issuer <url>', help: 'the identity provider whose access tokens are accepted' },
  {
    flags: '--client-id <id>',
    help: 'the client id of this server at the identity provider; needed for sign-in with a browser',
  },
  {
    flags: '--client-secret-file <file>',
    help: 'file with the secret of that client id (default: none, for a public client)',
  },
  {
    flags: '--groups-claim <name>',
    help: 'the claim that lists the groups of a person, in access tokens and ID tokens (default: groups)',
  },
  {
    flags: '--master-key-file <file>',
    help: 'file with the master key (64 hex digits) that encrypts the keys in the database',
  },
  {
    flags: '--rls',
    help: 'also separate the spaces inside the database, with row-level security (one more round trip per statement)',
  },
  {
    flags: '--listen-url <url>',
    help: 'direct address of the database for notifications (LISTEN), if --database-url points to a pooling proxy; without it, pages of the console that are open show changes later',
  },
  { flags: '--connections <count>', help: 'maximum number of database connections for queries (default: 10)' },
  { flags: '--no-drain', help: 'on shutdown, stop at once (default: report "not ready", and stop 5 seconds later)' },
] as const;

export const serveCommand: Command = {
  options: [
    { flags: '--stdio', help: 'serve on standard input and output (the default)' },
    { flags: '--http [port]', help: 'serve over HTTP on 127.0.0.1 instead (default port: 7433)' },
    { flags: '--port <port>', help: 'the port for --http; 0 chooses any free port' },
    {
      flags: '--team',
      help: 'serve the spaces of a team database; all options below, from --database-url to --no-drain, need this one',
    },
    ...TEAM_OPTIONS,
    { flags: '--log', help: 'log every call to standard error as a line of JSON (WORKRAIL_LOG=1 does the same)' },
  ],
  example: 'claude mcp add workrail -- workrail serve',
  // The server reports invalid settings itself, because a client shows no output of a command.
  needsNoConfig: true,
  run: async (context, input) => {
    if (input.options['team'] === true) {
      const { runTeamServer } = await import('./upkeep/team-server.ts');
      return runTeamServer(context, input);
    }
    const how = serveOptions(input);
    if (how.isErr()) return refused(context, how.error);
    return how.value.transport === 'stdio' ? onStdio(context, how.value) : overHttp(context, how.value);
  },
};

/** No well-known service uses this port. It is fixed so that a client can be configured once. */
const PORT = 7_433;
const PORT_MAX = 65_535;

function serveOptions({ options }: CommandInput): Result<ServeOptions, ServeTrouble> {
  const { stdio, http, port, log } = options;
  const isLogged = log === true;
  const isHttp = http !== undefined || port !== undefined;
  if (isHttp && stdio === true) return err({ code: 'transport_twice' });
  if (!isHttp) return ok({ transport: 'stdio', isLogged });
  const asked = port ?? (http === true ? undefined : http) ?? String(PORT);
  const isPort = typeof asked === 'string' && /^\d{1,5}$/.test(asked) && Number(asked) <= PORT_MAX;
  return isPort
    ? ok({ transport: 'http', port: Number(asked), isLogged })
    : err({ code: 'port_unusable', asked: String(asked), portMax: PORT_MAX });
}

async function onStdio(
  { program, say }: CommandContext,
  how: ServeOptions,
): Promise<Result<CommandOutcome, CommandProblem>> {
  const serving = await program.serve(how);
  const isServing = serving.isOk() && serving.value.isRefused !== true;
  if (isServing && program.terminal.isInput()) {
    say(['Serving MCP on standard input and output, for an agent client. Press Ctrl-C to stop.']);
    say([dim('To register it: claude mcp add workrail -- workrail serve')]);
  }
  return ok({ kind: 'serving' });
}

async function overHttp(context: CommandContext, how: ServeOptions): Promise<Result<CommandOutcome, CommandProblem>> {
  const { program, say } = context;
  const serving = await program.serve(how);
  if (serving.isErr()) return refused(context, serving.error);
  const { url = '', secretFile = '', isRefused } = serving.value;
  if (isRefused === true) return ok({ kind: 'serving' });
  say([`Serving MCP at ${url}, for this machine only. Press Ctrl-C to stop.`]);
  say([`Clients must send the token in ${secretFile}.`]);
  const header = `--header "Authorization: Bearer $(cat '${secretFile}')"`;
  say([dim(`To register it: claude mcp add --transport http workrail ${url} ${header}`)]);
  return ok({ kind: 'serving', data: { url, tokenFile: secretFile }, lines: [[url]] });
}

async function refused({ program }: CommandContext, trouble: ServeTrouble): Promise<Result<never, CommandProblem>> {
  return err(refusalProblem(trouble, await program.dataDir()));
}
