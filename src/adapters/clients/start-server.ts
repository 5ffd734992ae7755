import type { ChildProcess } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { atExit } from '../at-exit.ts';

/** How a server is started, as a client would do it. */
export type ServerCommand = {
  readonly command: string;
  readonly args: readonly string[];
  /** Everything that the process sees of an environment. */
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string;
  /** It is killed when it is not stopped before; whatever was asked of it then rejects. */
  readonly lifeMs?: number;
  /** Hears of that. */
  readonly onOverdue?: () => void;
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
  // Whoever is interrupted leaves nothing running.
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

/** A server that talks without end would be listened to without end, and no timer would ever come to its turn. */
class FairTransport extends StdioClientTransport {
  #child: ChildProcess | undefined;

  override async start(): Promise<void> {
    const started = super.start();
    // The library forgets the process as soon as it begins to close, so it is taken while it is known.
    this.#child = Reflect.get(this, '_process') as ChildProcess | undefined;
    const out = this.#child?.stdout;
    out?.on('data', () => {
      out.pause();
      setImmediate(() => out.resume());
    });
    await started;
  }

  /** What the process has started itself may hold its pipes open, so nobody waits for those. */
  kill(): void {
    this.#child?.kill('SIGKILL');
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }
}
