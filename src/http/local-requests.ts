import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { createAdaptorServer } from '@hono/node-server';
import { err, ok, type Result } from 'neverthrow';

/** The headers that tell where a request comes from. */
export type RequestOrigin = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Browsers say so of a request that a page of another site makes. */
  readonly fetchSite?: string | undefined;
};

/** The names of this machine for itself. */
const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]'] as const;

/**
 * Whether a request was made for this server, by a program or by one of its own pages. A foreign page can point its own
 * domain at this server, but it cannot hide that domain: the browser sends it as Host and Origin.
 */
export function isLocalRequest({ host, origin, fetchSite }: RequestOrigin, port: number): boolean {
  // Anything else is from another site, or two headers in one.
  if (fetchSite !== undefined && fetchSite !== 'none' && fetchSite !== 'same-origin') return false;
  const hosts = LOCAL_NAMES.map((name) => `${name}:${port}`);
  const origins = hosts.map((name) => `http://${name}`);
  const isForThisServer = host !== undefined && hosts.includes(host.toLowerCase());
  return isForThisServer && (origin === undefined || origins.includes(origin.toLowerCase()));
}

/** Not reachable from other machines. */
const LOCAL_ADDRESS = '127.0.0.1';

export type ListenRefusal =
  | { readonly code: 'port_taken'; readonly port: number }
  | { readonly code: 'port_refused'; readonly port: number; readonly cause: string };

type NodeServer = ReturnType<typeof createAdaptorServer>;

/** Begins to listen; a refusal says why it cannot. */
export async function listen(
  server: NodeServer,
  port: number,
  host: string = LOCAL_ADDRESS,
): Promise<Result<Listening, ListenRefusal>> {
  const failure = await new Promise<string | undefined>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => resolve(undefined));
  });
  if (failure === 'EADDRINUSE') return err({ code: 'port_taken', port });
  if (failure !== undefined) return err({ code: 'port_refused', port, cause: failure });
  return ok({
    url: `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}/`,
    stop: async () => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

export type Listening = { readonly url: string; readonly stop: () => Promise<void> };

/** The port of a server that listens. */
export function portOf(server: NodeServer): number {
  return (server.address() as AddressInfo).port;
}

/**
 * A request that arrives slowly, or a connection that nobody uses, is closed. Node looks at connections only twice a
 * minute by itself.
 */
export const TIME_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
} as const;
