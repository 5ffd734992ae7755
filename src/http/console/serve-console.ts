import { randomBytes } from 'node:crypto';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { err, ok, type Result } from 'neverthrow';
import type { ConsoleAssets, StoreFeed } from '../../app/ports/console.ts';
import type { ApprovalServices } from '../../app/sessions/console-approvals.ts';
import type { ExchangeServices } from '../../app/sessions/console-exchange.ts';
import { sessionsPage, waitingPage } from '../../app/sessions/console-pages.ts';
import { BUNDLE_BYTES_MAX } from '../../core/bundle/bundle-document.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { CONSOLE_PATHS, type ConsolePath } from '../../core/wire/console-paths.ts';
import { CONSOLE_INPUTS, type ConsoleEvent, type ConsoleReply } from '../../core/wire/console-shapes.ts';
import { WORKFLOW_FILE_BYTES_MAX } from '../../core/workflow/source/parse-source.ts';
import { type ListenRefusal, listen, portOf, TIME_LIMITS } from '../local-requests.ts';
import { approvalHandlers } from './approval-routes.ts';
import {
  type ConsoleLaunch,
  cookieName,
  guardRefusal,
  NOT_SIGNED_IN,
  newLaunch,
  responseHeaders,
} from './console-guard.ts';
import { editorHandlers, type OpenEditor } from './editor-routes.ts';
import {
  asError,
  body,
  exchangeHandlers,
  type Handler,
  invalidRequest,
  RELOAD,
  refusal,
  reply,
} from './exchange-routes.ts';
import { commandHandlers, type RunCommandWords, runHandlers } from './run-routes.ts';

export type ConsoleRequest = {
  /** 0 chooses any free port. */
  readonly port: number;
  readonly services: ExchangeServices & ApprovalServices;
  readonly feed: StoreFeed;
  readonly assets: ConsoleAssets;
  readonly clients: () => Promise<ConsoleReply<'clients'>['clients']>;
  readonly about: ConsoleReply<'about'>;
  readonly runCommand: RunCommandWords;
  readonly editor: OpenEditor;
};

export type ConsoleServer = {
  /** An address that signs a browser in. It works once, and for a minute. */
  readonly newLink: () => string;
  readonly stop: () => Promise<void>;
};

const BODY_BYTES_MAX = 1_048_576;
/** A workflow file and its scenarios, each character of which may be escaped. */
const FILES_BYTES_MAX = 4 * WORKFLOW_FILE_BYTES_MAX;

/** Serves the console to browsers of this machine that were given a link. */
export async function serveConsole(request: ConsoleRequest): Promise<Result<ConsoleServer, ListenRefusal>> {
  const launch = newLaunch(request.services.clock);
  const newServer = () => createAdaptorServer({ fetch: (asked) => app.fetch(asked), serverOptions: TIME_LIMITS });
  const server = newServer();
  const app = consoleApp(request, { launch, port: () => portOf(server) });
  const listening = await listen(server, request.port);
  if (listening.isErr()) return err(listening.error);
  const { url, stop } = listening.value;
  // A browser may look for localhost at either address, and no other program should be found there.
  const other = await listen(newServer(), portOf(server), '::1');
  const isNameOurs = other.isOk() || other.error.code !== 'port_taken';
  return ok({
    // A passkey belongs to a name, and 127.0.0.1 is not one.
    newLink: () => `${isNameOurs ? url.replace('127.0.0.1', 'localhost') : url}#${launch.newCode()}`,
    stop: async () => {
      await Promise.all([stop(), other.isOk() ? other.value.stop() : undefined]);
    },
  });
}

type Local = { readonly launch: ConsoleLaunch; readonly port: () => number };

function consoleApp(request: ConsoleRequest, { launch, port }: Local): Hono<{ Variables: { nonce: string } }> {
  const app = new Hono<{ Variables: { nonce: string } }>();
  app.use('*', async (context, next) => {
    const nonce = randomBytes(16).toString('base64');
    context.set('nonce', nonce);
    const { method, path } = context.req;
    const asked = { method, path, header: (name: string) => context.req.header(name) };
    const refused = guardRefusal(asked, { port: port(), launch, signInPath: CONSOLE_PATHS.signIn[1] });
    if (refused === undefined) await next();
    else context.res = refusedResponse(context, refused);
    for (const [name, value] of Object.entries(responseHeaders(nonce))) context.res.headers.set(name, value);
    if (path.startsWith('/api/')) context.res.headers.set('cache-control', 'no-store');
  });
  const limitTo = (maxSize: number) =>
    bodyLimit({ maxSize, onError: (context) => context.json(asError(TOO_LARGE), 413) });
  const [small, files, large] = [limitTo(BODY_BYTES_MAX), limitTo(FILES_BYTES_MAX), limitTo(BUNDLE_BYTES_MAX)];
  app.use('/api/*', (context, next) => {
    const { path } = context.req;
    if (path.startsWith('/api/author/')) return files(context, next);
    return (path === CONSOLE_PATHS.import[1] ? large : small)(context, next);
  });
  const handle = handlers(request, { launch, port });
  for (const [name, [method, path]] of Object.entries(CONSOLE_PATHS)) {
    app.on(method, path, handle[name as ConsolePath]);
  }
  app.all('/api/*', (context) => context.json(asError(UNKNOWN_PATH), 404));
  app.get('/assets/:name', async (context) => {
    const isGzipAccepted = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
    const asset = await request.assets.file(context.req.param('name'), isGzipAccepted);
    return asset === undefined ? context.text('Not found.', 404) : context.body(asset.body, 200, { ...asset.headers });
  });
  app.get('*', async (context) => {
    const page = await request.assets.page(context.get('nonce'));
    return page === undefined ? context.text(NOT_BUILT, 500) : context.html(page, 200, { 'cache-control': 'no-store' });
  });
  app.onError((error, context) => context.json(asError(internal(error)), 500));
  return app;
}

function handlers(
  { services, feed, about, clients, runCommand, editor }: ConsoleRequest,
  { launch, port }: Local,
): { readonly [name in ConsolePath]: Handler } {
  /** When the page first showed each draft. */
  const shown = new Map<string, number>();
  return {
    signIn: async (context) => {
      const sent = CONSOLE_INPUTS.signIn.safeParse(await body(context));
      const given = sent.success ? launch.redeem(sent.data.code) : undefined;
      if (given === undefined) return context.json(asError(NOT_SIGNED_IN.error), 401);
      const cookie = `${cookieName(port())}=${given.cookie}; HttpOnly; SameSite=Strict; Path=/`;
      return context.json({ key: given.key }, 200, { 'set-cookie': cookie });
    },
    about: (context) => context.json(about),
    clients: async (context) => context.json({ clients: await clients() }),
    sessions: async (context) => {
      const asked = CONSOLE_INPUTS.sessions.safeParse(context.req.query());
      return asked.success ? reply(context, await sessionsPage(services, asked.data)) : invalidRequest(context);
    },
    ...runHandlers(services),
    ...exchangeHandlers(services),
    ...commandHandlers(runCommand),
    ...editorHandlers(editor),
    waiting: async (context) => {
      const page = await waitingPage(services);
      const now = services.clock.nowMs();
      for (const { digest } of page.isOk() ? page.value.waiting : []) if (!shown.has(digest)) shown.set(digest, now);
      return reply(context, page);
    },
    ...approvalHandlers(services, { shown, port }),
    events: (context) => context.body(eventStream(feed, services.answerIds.launch), 200, EVENT_HEADERS),
  };
}

const EVENT_HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8' };
const PING_MS = 15_000;

/** A line of JSON for every change, until the page goes away. */
function eventStream(feed: StoreFeed, launch: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let end = (): void => undefined;
  return new ReadableStream({
    start: (stream) => {
      const send = (event: ConsoleEvent) => stream.enqueue(encoder.encode(`${JSON.stringify(event)}\n`));
      send({ kind: 'hello', launch });
      const stopWatching = feed.watch(() => send({ kind: 'changed' }));
      const pings = setInterval(() => send({ kind: 'ping' }), PING_MS);
      end = () => {
        stopWatching();
        clearInterval(pings);
      };
    },
    cancel: () => end(),
  });
}

function refusedResponse(context: Context, { status, error }: NonNullable<ReturnType<typeof guardRefusal>>): Response {
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
