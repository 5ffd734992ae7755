/** What of a request tells where it comes from. */
export type RequestOrigin = { readonly host: string | undefined; readonly origin: string | undefined };

/** The names by which this machine calls itself. */
const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]'] as const;

/**
 * Whether a request was made for this server, by a program or by a page of this server. A page of somebody else can
 * make its own name lead here, but it cannot lie about that name; and a browser tells whose page it is.
 */
export function isLocalRequest({ host, origin }: RequestOrigin, port: number): boolean {
  const hosts = LOCAL_NAMES.map((name) => `${name}:${port}`);
  const origins = hosts.map((name) => `http://${name}`);
  const isForUs = host !== undefined && hosts.includes(host.toLowerCase());
  return isForUs && (origin === undefined || origins.includes(origin.toLowerCase()));
}
