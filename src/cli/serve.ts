import { err, ok, type Result } from 'neverthrow';
import {
  type CommandContext,
  type CommandInput,
  type CommandOutcome,
  type CommandProblem,
  exitCodeOf,
  type RunCommand,
} from './command.ts';
import type { ServeOptions } from './program.ts';
import { explainRefusal, type ServeTrouble } from './words.ts';

/** Registered for nothing that is widely used; fixed, so that a client can be told the address once. */
const PORT = 7_433;
const PORT_MAX = 65_535;

export const serveCommand: RunCommand = async (context, input) => {
  const how = serveOptions(input);
  if (how.isErr()) return refused(context, how.error);
  return how.value.transport === 'stdio' ? onStdio(context, how.value) : overHttp(context, how.value);
};

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
    say(['Serving MCP on standard input and output, for an agent client. Ctrl-C ends it.']);
    say([{ text: 'To register it: claude mcp add workrail -- workrail serve', style: 'dim' }]);
  }
  return ok({ kind: 'serving' });
}

async function overHttp(context: CommandContext, how: ServeOptions): Promise<Result<CommandOutcome, CommandProblem>> {
  const { program, say } = context;
  const serving = await program.serve(how);
  if (serving.isErr()) return refused(context, serving.error);
  const { url = '', isRefused } = serving.value;
  if (isRefused === true) return ok({ kind: 'serving' });
  say([`Serving MCP at ${url} for this machine. Ctrl-C ends it.`]);
  say([{ text: `To register it: claude mcp add --transport http workrail ${url}`, style: 'dim' }]);
  return ok({ kind: 'serving' });
}

async function refused({ program }: CommandContext, trouble: ServeTrouble): Promise<Result<never, CommandProblem>> {
  const error = explainRefusal(trouble, await program.dataDir());
  return err({ error, exitCode: exitCodeOf(error.code) });
}
