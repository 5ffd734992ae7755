import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { atExit } from './at-exit.ts';

/** How a server is started, as a client would do it. */
export type ServerCommand = {
  readonly command: string;
  readonly args: readonly string[];
  /** Everything that the process sees of an environment. */
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string;
  /** It is killed when it is not stopped before; whatever was asked of it then rejects. */
  readonly lifeMs?: number;
  /** Hears what the server says aside; without it nobody does. */
  readonly onSaid?: (text: string) => void;
};

/** A server that was started and answers over MCP on standard input and output. */
export type StartedServer = {
  readonly version: string;
  readonly call: (
    tool: string,
    args: { readonly [name: string]: unknown },
  ) => Promise<{ readonly isError: boolean; readonly data: unknown }>;
  readonly tools: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
};

/** Starts a server and shakes hands with it; rejects when it does not answer. */
export async function startServer(server: ServerCommand): Promise<StartedServer> {
  const { command, args, env, cwd, lifeMs, onSaid } = server;
  const client = new Client({ name: 'workrail-cli', version: '0' });
  const place = cwd === undefined ? {} : { cwd };
  const stderr = onSaid === undefined ? 'ignore' : 'pipe';
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr, ...place });
  transport.stderr?.on('data', (data) => onSaid?.(String(data)));
  const end = lifeMs === undefined ? undefined : setTimeout(() => kill(transport.pid), lifeMs);
  // Whoever is interrupted leaves nothing running.
  const spare = atExit(() => kill(transport.pid));
  const forget = () => {
    clearTimeout(end);
    spare();
  };
  await client.connect(transport).catch((cause: unknown) => {
    forget();
    throw cause;
  });
  return {
    version: client.getServerVersion()?.version ?? '',
    call: async (name, given) => {
      const { isError, structuredContent } = await client.callTool({ name, arguments: { ...given } });
      return { isError: isError === true, data: structuredContent };
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    stop: async () => {
      await client.close();
      forget();
    },
  };
}

/** It may have ended by itself meanwhile. */
function kill(pid: number | null): void {
  try {
    if (pid !== null) process.kill(pid, 'SIGKILL');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause;
  }
}
