import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { err, ok, type Result } from 'neverthrow';

/** The headers that tell where a request comes from. */
export type RequestOrigin = { readonly host: string | undefined; readonly origin: string | undefined };

/** The names of this machine for itself. */
const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]'] as const;

/**
 * Whether a request was made for this server, by a program or by one of its own pages. A foreign page can point its own
 * domain at this server, but it cannot hide that domain: the browser sends it as Host and Origin.
 */
export function isLocalRequest({ host, origin }: RequestOrigin, port: number): boolean {
  const hosts = LOCAL_NAMES.map((name) => `${name}:${port}`);
  const origins = hosts.map((name) => `http://${name}`);
  const isForThisServer = host !== undefined && hosts.includes(host.toLowerCase());
  return isForThisServer && (origin === undefined || origins.includes(origin.toLowerCase()));
}

/** Not reachable from other machines. */
const ADDRESS = '127.0.0.1';

export type ServeRequest = {
  /** 0 chooses any free port. */
  readonly port: number;
  readonly mcp: (request: Request) => Promise<Response>;
};

export type LocalServer = { readonly url: string; readonly stop: () => Promise<void> };

export type ListenRefusal =
  | { readonly code: 'port_taken'; readonly port: number }
  | { readonly code: 'port_refused'; readonly port: number; readonly cause: string };

/** Serves HTTP to this machine only, and not to pages of other origins. */
export async function serveLocal({ port, mcp }: ServeRequest): Promise<Result<LocalServer, ListenRefusal>> {
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request) });
  const portNow = () => (server.address() as AddressInfo).port;
  const app = localApp(mcp, portNow);
  const failure = await listening(server, port);
  if (failure !== undefined) {
    return err(
      failure === 'EADDRINUSE' ? { code: 'port_taken', port } : { code: 'port_refused', port, cause: failure },
    );
  }
  return ok({
    url: `http://${ADDRESS}:${portNow()}/mcp`,
    stop: async () => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

type NodeServer = ReturnType<typeof createAdaptorServer>;

/** Why it cannot listen on the port; `undefined` if it can. */
function listening(server: NodeServer, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, ADDRESS, () => resolve(undefined));
  });
}

function localApp(mcp: ServeRequest['mcp'], port: () => number): Hono {
  const app = new Hono();
  app.use('*', async (context, next) => {
    const origin = { host: context.req.header('host'), origin: context.req.header('origin') };
    return isLocalRequest(origin, port()) ? next() : context.json(refusal(FOREIGN), 403);
  });
  app.all('/mcp', (context) => mcp(context.req.raw));
  app.notFound((context) => context.json(refusal('Not found. MCP is at /mcp.'), 404));
  return app;
}

const FOREIGN = 'This server only answers programs on this machine: Host and Origin must be its own address.';

/** A JSON-RPC error, which is what an MCP client understands. */
function refusal(message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
}
