import type { ChildProcess } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { atExit } from '../at-exit.ts';

/** How a client would start a server. */
export type ServerCommand = {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string;
  /** The server is killed after this time. Pending calls then reject. */
  readonly lifeMs?: number;
  /** Called if the server is killed for that. */
  readonly onOverdue?: () => void;
  /** Called with what the server writes to standard error, which is dropped otherwise. */
  readonly onSaid?: (text: string) => void;
};

/** A running server that answers over MCP on standard input and output. */
export type StartedServer = {
  readonly version: string;
  readonly call: (
    tool: string,
    args: { readonly [name: string]: unknown },
  ) => Promise<{ readonly isError: boolean; readonly data: unknown }>;
  readonly tools: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
};

/** Starts a server and connects to it. Rejects if it does not answer. */
export async function startServer(server: ServerCommand): Promise<StartedServer> {
  const { command, args, env, cwd, lifeMs, onOverdue, onSaid } = server;
  const client = new Client({ name: 'workrail-cli', version: '0' });
  const place = cwd === undefined ? {} : { cwd };
  const stderr = onSaid === undefined ? 'ignore' : 'pipe';
  const transport = new FairTransport({ command, args: [...args], env: { ...env }, stderr, ...place });
  transport.stderr?.on('data', (data) => onSaid?.(String(data)));
  const overdue = () => {
    onOverdue?.();
    transport.kill();
  };
  const end = lifeMs === undefined ? undefined : setTimeout(overdue, lifeMs);
  // No server keeps running after an interrupt.
  const spare = atExit(() => transport.kill());
  const forget = () => {
    clearTimeout(end);
    spare();
  };
  await client.connect(transport).catch((cause: unknown) => {
    forget();
    transport.kill();
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
      transport.kill();
    },
  };
}

/** A server that writes without end would keep this process reading, and no timer would ever fire. */
class FairTransport extends StdioClientTransport {
  #child: ChildProcess | undefined;

  override async start(): Promise<void> {
    const started = super.start();
    // The library drops the process when it starts to close, so it is kept here.
    this.#child = Reflect.get(this, '_process') as ChildProcess | undefined;
    const out = this.#child?.stdout;
    out?.on('data', () => {
      out.pause();
      setImmediate(() => out.resume());
    });
    await started;
  }

  /** Child processes of the server may hold its pipes open, so nothing waits for those. */
  kill(): void {
    this.#child?.kill('SIGKILL');
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }
}
