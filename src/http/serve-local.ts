import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { err, ok, type Result } from 'neverthrow';
import { isLocalRequest, type ListenRefusal, LOCAL_ADDRESS, listening, TIME_LIMITS } from './local-requests.ts';

export type ServeRequest = {
  /** 0 chooses any free port. */
  readonly port: number;
  readonly mcp: (request: Request) => Promise<Response>;
  /** Sent by every client as a bearer token. Other users of this machine can reach the port too. */
  readonly secret: { readonly text: string; readonly file: string };
};

export type LocalServer = { readonly url: string; readonly stop: () => Promise<void> };

/** Serves HTTP to programs of this machine that know the secret, and not to pages of other origins. */
export async function serveLocal({ port, mcp, secret }: ServeRequest): Promise<Result<LocalServer, ListenRefusal>> {
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request), serverOptions: TIME_LIMITS });
  const portNow = () => (server.address() as AddressInfo).port;
  const app = localApp({ mcp, secret }, portNow);
  const failure = await listening(server, port);
  if (failure !== undefined) {
    return err(
      failure === 'EADDRINUSE' ? { code: 'port_taken', port } : { code: 'port_refused', port, cause: failure },
    );
  }
  return ok({
    url: `http://${LOCAL_ADDRESS}:${portNow()}/mcp`,
    stop: async () => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

function localApp({ mcp, secret }: Pick<ServeRequest, 'mcp' | 'secret'>, port: () => number): Hono {
  const wanted = digest(`Bearer ${secret.text}`);
  const app = new Hono();
  app.use('*', async (context, next) => {
    const { host, origin, 'sec-fetch-site': fetchSite } = context.req.header();
    if (!isLocalRequest({ host, origin, fetchSite }, port())) return context.json(refusal(FOREIGN), 403);
    // Digests have one length, so the comparison takes the same time for every guess.
    if (timingSafeEqual(digest(context.req.header('authorization') ?? ''), wanted)) return next();
    const message = `This server needs the token in ${secret.file}, sent as "Authorization: Bearer TOKEN".`;
    return context.json(refusal(message), 401, { 'www-authenticate': 'Bearer' });
  });
  app.all('/mcp', (context) => mcp(context.req.raw));
  app.notFound((context) => context.json(refusal('Not found. MCP is at /mcp.'), 404));
  return app;
}

const FOREIGN = 'This server only answers programs on this machine: Host and Origin must be its own address.';

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A JSON-RPC error, which is what an MCP client understands. */
function refusal(message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
}
