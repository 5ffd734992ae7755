import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { err, ok, type Result } from 'neverthrow';
import type { ConsoleAssets, StoreFeed } from '../../app/ports/console.ts';
import type { ApprovalServices } from '../../app/sessions/console-approvals.ts';
import type { ExchangeServices } from '../../app/sessions/console-exchange.ts';
import { CONSOLE_PATHS, type ConsolePath } from '../../core/wire/console-paths.ts';
import { CONSOLE_INPUTS, type ConsoleReply } from '../../core/wire/console-shapes.ts';
import { type ListenRefusal, listen, portOf, TIME_LIMITS } from '../local-requests.ts';
import { approvalHandlers, launchReceipts } from './approval-routes.ts';
import { type ConsoleEnv, consoleApp, eventsResponse } from './console-app.ts';
import { type ConsoleLaunch, cookieName, guardRefusal, NOT_SIGNED_IN, newLaunch } from './console-guard.ts';
import { editorHandlers, type OpenEditor } from './editor-routes.ts';
import { asError, body, exchangeHandlers, type Handler } from './exchange-routes.ts';
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

/** Serves the console to browsers of this machine that were given a link. */
export async function serveConsole(request: ConsoleRequest): Promise<Result<ConsoleServer, ListenRefusal>> {
  const launch = newLaunch(request.services.clock);
  const newServer = () => createAdaptorServer({ fetch: (asked) => app.fetch(asked), serverOptions: TIME_LIMITS });
  const server = newServer();
  const app = localApp(request, { launch, port: () => portOf(server) });
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

function localApp(request: ConsoleRequest, local: Local): Hono<ConsoleEnv> {
  const { launch, port } = local;
  const handle = handlers(request, local);
  return consoleApp({
    base: '',
    assets: request.assets,
    guard: async (asked) => guardRefusal(asked, { port: port(), launch, signInPath: CONSOLE_PATHS.signIn[1] }),
    paths: CONSOLE_PATHS,
    handle: (name, context) => handle[name as ConsolePath](context),
  });
}

function handlers(
  { services, feed, about, clients, runCommand, editor }: ConsoleRequest,
  { launch, port }: Local,
): { readonly [name in ConsolePath]: Handler } {
  const receipts = launchReceipts(services.clock);
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
    ...runHandlers(services),
    ...exchangeHandlers(services),
    ...commandHandlers(runCommand),
    ...editorHandlers(editor),
    ...approvalHandlers(services, { receipts, origin: () => `http://localhost:${port()}` }),
    events: (context) => eventsResponse(context, feed, { launch: services.answerIds.launch }),
  };
}
