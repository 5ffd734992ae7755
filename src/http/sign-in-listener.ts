import type { EventEmitter } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import { err, ok, type Result } from 'neverthrow';
import { type ListenRefusal, listen, TIME_LIMITS } from './local-requests.ts';

/** Waits on this machine for a browser that comes back from an identity provider (RFC 8252). */
export type SignInListener = {
  readonly redirectUri: string;
  /** Waits for the browser with this state. `finish` gets its query and returns what the person reads. */
  readonly wait: (wish: {
    readonly state: string;
    readonly msMax: number;
    readonly finish: (query: string) => Promise<string>;
  }) => Promise<void>;
  readonly stop: () => Promise<void>;
};

const PATH = '/callback';
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

/** Listens on 127.0.0.1; port 0 chooses any free port. */
export async function listenForSignIn(port: number): Promise<Result<SignInListener, ListenRefusal>> {
  let expected: { readonly state: string; readonly answer: (query: string) => Promise<string> } | undefined;
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, search, searchParams } = new URL(request.url);
    const wanted = expected;
    // Any page can send a browser here. Only the one that was sent out knows the state, and it comes once.
    if (wanted === undefined || pathname !== PATH || searchParams.get('state') !== wanted.state) {
      return new Response('This is not the sign-in that WorkRail waits for.\n', { status: 400, headers: HEADERS });
    }
    expected = undefined;
    return new Response(`${await wanted.answer(search)}\n`, { headers: HEADERS });
  };
  const server = createAdaptorServer({ fetch, serverOptions: TIME_LIMITS });
  const listening = await listen(server, port);
  if (listening.isErr()) return err(listening.error);
  const { url, stop } = listening.value;
  return ok({
    redirectUri: new URL(PATH, url).href,
    stop,
    wait: ({ state, msMax, finish }) =>
      new Promise((resolve) => {
        let isAnswered = false;
        const late = setTimeout(resolve, msMax);
        const answer = async (query: string) => {
          clearTimeout(late);
          const words = await finish(query);
          isAnswered = true;
          return words;
        };
        // The browser gets its page before the server stops.
        server.on('request', (_request: unknown, response: EventEmitter) =>
          response.once('close', () => isAnswered && resolve()),
        );
        expected = { state, answer };
      }),
  });
}
