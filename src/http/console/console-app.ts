import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ConsoleAssets, StoreFeed } from '../../app/ports/console.ts';
import { BUNDLE_BYTES_MAX } from '../../core/bundle/bundle-document.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { CONSOLE_PATHS } from '../../core/wire/console-paths.ts';
import type { ConsoleEvent } from '../../core/wire/console-shapes.ts';
import { WORKFLOW_FILE_BYTES_MAX } from '../../core/workflow/source/parse-source.ts';
import { type GuardedRequest, type GuardRefusal, responseHeaders } from './console-guard.ts';
import { asError, RELOAD, refusal } from './exchange-routes.ts';

export type ConsoleEnv = { Variables: { nonce: string } };

/** The console as it is mounted: on this machine for who was given a link, on a team server for who signed in. */
export type ConsoleMount = {
  /** What comes before every path. */
  readonly base: '' | '/s/:space';
  readonly assets: ConsoleAssets;
  /** Why a request is refused; `undefined` if it may go on. The path is the one behind the base. */
  readonly guard: (asked: GuardedRequest, context: Context) => Promise<GuardRefusal | undefined>;
  /** Every request that is answered. What is not here does not exist. */
  readonly paths: { readonly [name: string]: readonly ['GET' | 'POST', string] };
  readonly handle: (name: string, context: Context) => Promise<Response> | Response;
};

const BODY_BYTES_MAX = 1_048_576;
/** A workflow file and its scenarios, each character of which may be escaped. */
const FILES_BYTES_MAX = 4 * WORKFLOW_FILE_BYTES_MAX;

export function consoleApp({ base, assets, guard, paths, handle }: ConsoleMount): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>().basePath(base);
  const before = base.split('/').length - 1;
  const pathOf = (context: Context) =>
    `/${context.req.path
      .split('/')
      .slice(before + 1)
      .join('/')}`;
  app.use('*', async (context, next) => {
    const nonce = randomBytes(16).toString('base64');
    context.set('nonce', nonce);
    const [{ method }, path] = [context.req, pathOf(context)];
    const refused = await guard({ method, path, header: (name) => context.req.header(name) }, context);
    if (refused === undefined) await next();
    else context.res = refusedResponse(context, refused);
    for (const [name, value] of Object.entries(responseHeaders(nonce))) context.res.headers.set(name, value);
    if (path.startsWith('/api/')) context.res.headers.set('cache-control', 'no-store');
  });
  const limitTo = (maxSize: number) =>
    bodyLimit({ maxSize, onError: (context) => context.json(asError(TOO_LARGE), 413) });
  const [small, files, large] = [limitTo(BODY_BYTES_MAX), limitTo(FILES_BYTES_MAX), limitTo(BUNDLE_BYTES_MAX)];
  app.use('/api/*', (context, next) => {
    const path = pathOf(context);
    if (path.startsWith('/api/author/')) return files(context, next);
    return (path === CONSOLE_PATHS.import[1] ? large : small)(context, next);
  });
  for (const [name, [method, path]] of Object.entries(paths)) {
    app.on(method, path, (context) => handle(name, context));
  }
  app.all('/api/*', (context) => context.json(asError(UNKNOWN_PATH), 404));
  app.get('/assets/:name', (context) => assetResponse(context, assets));
  app.get('*', async (context) => {
    const page = await assets.page(context.get('nonce'));
    return page === undefined ? context.text(NOT_BUILT, 500) : context.html(page, 200, { 'cache-control': 'no-store' });
  });
  app.onError((error, context) => context.json(asError(internal(error)), 500));
  return app;
}

/** A file of the page. It holds no secret, so anybody may have it. */
export async function assetResponse(context: Context, assets: ConsoleAssets): Promise<Response> {
  const isGzipAccepted = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
  const asset = await assets.file(context.req.param('name') ?? '', isGzipAccepted);
  return asset === undefined ? context.text('Not found.', 404) : context.body(asset.body, 200, { ...asset.headers });
}

const EVENT_HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8' };
const PING_MS = 15_000;

/** How soon somebody who may no longer look hears nothing more. */
const OVER_MS = 3_000;

type Listener = {
  readonly launch: string;
  /** Whether the page may no longer listen. Asked now and then. */
  readonly isOver?: () => Promise<boolean>;
};

/** A line of JSON for every change, until the page goes away or may no longer listen. */
export function eventsResponse(context: Context, feed: StoreFeed, listener: Listener): Response {
  return context.body(eventStream(feed, listener), 200, EVENT_HEADERS);
}

function eventStream(feed: StoreFeed, { launch, isOver }: Listener): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let end = (): void => undefined;
  return new ReadableStream({
    start: (stream) => {
      const send = (event: ConsoleEvent) => stream.enqueue(encoder.encode(`${JSON.stringify(event)}\n`));
      send({ kind: 'hello', launch });
      const stopWatching = feed.watch(() => send({ kind: 'changed' }));
      const pings = setInterval(() => send({ kind: 'ping' }), PING_MS);
      let hasEnded = false;
      end = () => {
        hasEnded = true;
        stopWatching();
        clearInterval(pings);
        clearInterval(looks);
      };
      const look = async () => {
        if (isOver === undefined || !(await isOver()) || hasEnded) return;
        end();
        stream.close();
      };
      const looks = setInterval(() => void look(), OVER_MS);
    },
    cancel: () => end(),
  });
}

function refusedResponse(context: Context, { status, error }: GuardRefusal): Response {
  const isPage = context.req.header('sec-fetch-mode') === 'navigate';
  return isPage ? context.text(`${error.message} ${error.suggestion}`, status) : context.json(asError(error), status);
}

const NOT_BUILT = 'The files of the console are missing. Run "npm run build".';

const UNKNOWN_PATH = refusal('There is no such request.', RELOAD);
const TOO_LARGE = refusal(
  'The request is too large: 1 MB, 16 MiB for a workflow file, or 256 MiB for a bundle.',
  'Send less.',
);

function internal(error: unknown): ErrorEnvelope {
  const message = `Something went wrong in the console: ${error instanceof Error ? error.message : String(error)}`;
  return {
    code: 'INTERNAL',
    message,
    suggestion: 'Reload the page, or start the console again.',
    retry: { kind: 'not_retryable' },
  };
}
