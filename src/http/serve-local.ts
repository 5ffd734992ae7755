import { createHash, timingSafeEqual } from 'node:crypto';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Result } from 'neverthrow';
import { isLocalRequest, type Listening, type ListenRefusal, listen, portOf, TIME_LIMITS } from './local-requests.ts';

export type ServeRequest = {
  /** 0 chooses any free port. */
  readonly port: number;
  readonly mcp: (request: Request) => Promise<Response>;
  /** What this server is, and which settings it applied. */
  readonly about: () => Promise<object>;
  /** Sent by every client as a bearer token. Other users of this machine can reach the port too. */
  readonly secret: { readonly text: string };
};

/** Serves HTTP to programs of this machine that know the secret, and not to pages of other origins. */
export async function serveLocal({ port, ...served }: ServeRequest): Promise<Result<Listening, ListenRefusal>> {
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request), serverOptions: TIME_LIMITS });
  const app = localApp(served, () => portOf(server));
  return (await listen(server, port)).map(({ url, stop }) => ({ url: `${url}mcp`, stop }));
}

function localApp({ mcp, about, secret }: Omit<ServeRequest, 'port'>, port: () => number): Hono {
  const wanted = digest(secret.text);
  const app = new Hono();
  app.use('*', async (context, next) => {
    const { host, origin, 'sec-fetch-site': fetchSite } = context.req.header();
    if (!isLocalRequest({ host, origin, fetchSite }, port())) return context.json(refusal(FOREIGN), 403);
    const [, token = ''] = BEARER.exec(context.req.header('authorization') ?? '') ?? [];
    // Digests have one length, so the comparison takes the same time for every guess.
    if (timingSafeEqual(digest(token), wanted)) return next();
    return context.json(refusal(NO_TOKEN), 401, { 'www-authenticate': 'Bearer' });
  });
  app.all('/mcp', (context) => mcp(context.req.raw));
  app.get('/about', async (context) => context.json(await about()));
  app.notFound((context) => context.json(refusal('Not found. MCP is at /mcp.'), 404));
  return app;
}

/** The name of the scheme may be written in small letters or capitals (RFC 9110). */
const BEARER = /^Bearer +(\S+)$/i;

/** The path of the file is not for everyone who reaches the port: it names the user and the folder of their data. */
const NO_TOKEN =
  'This server needs the token in the file keys/http-token of its data folder, sent as "Authorization: Bearer TOKEN".';
const FOREIGN = 'This server only answers programs on this machine: Host and Origin must be its own address.';

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A JSON-RPC error, which is what an MCP client understands. */
function refusal(message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
}
