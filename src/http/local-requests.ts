import type { createAdaptorServer } from '@hono/node-server';

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
  if (fetchSite === 'cross-site' || fetchSite === 'same-site') return false;
  const hosts = LOCAL_NAMES.map((name) => `${name}:${port}`);
  const origins = hosts.map((name) => `http://${name}`);
  const isForThisServer = host !== undefined && hosts.includes(host.toLowerCase());
  return isForThisServer && (origin === undefined || origins.includes(origin.toLowerCase()));
}

/** Not reachable from other machines. */
export const LOCAL_ADDRESS = '127.0.0.1';

export type ListenRefusal =
  | { readonly code: 'port_taken'; readonly port: number }
  | { readonly code: 'port_refused'; readonly port: number; readonly cause: string };

type NodeServer = ReturnType<typeof createAdaptorServer>;

/** Why it cannot listen on the port; `undefined` if it can. */
export function listening(server: NodeServer, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, LOCAL_ADDRESS, () => resolve(undefined));
  });
}

/** A request that arrives slowly, or a connection that nobody uses, is closed. */
export const TIME_LIMITS = { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 30_000 } as const;
