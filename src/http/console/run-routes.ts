import type { Context } from 'hono';
import { err, type Result } from 'neverthrow';
import {
  type ExchangeServices,
  exportReport,
  signaturesPage,
  withNearest,
} from '../../app/sessions/console-exchange.ts';
import { servicesAsOf } from '../../app/sessions/open-session.ts';
import {
  driftPage,
  notesPage,
  preferPage,
  promptPage,
  rawPage,
  resumePage,
  runPageOf,
  sessionPage,
  stepPageOf,
} from '../../app/sessions/run-pages.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import { COMMAND_INPUTS, type CommandPath } from '../../core/wire/command-shapes.ts';
import { CONSOLE_COMMANDS, commandWords } from '../../core/wire/console-commands.ts';
import { CONSOLE_PATHS, type ConsolePath } from '../../core/wire/console-paths.ts';
import { CONSOLE_INPUTS, NOTES_IN_A_WINDOW } from '../../core/wire/console-shapes.ts';
import { body, type Handler, invalidRequest, refusal, reply } from './exchange-routes.ts';

type RunPath = Extract<
  ConsolePath,
  'session' | 'run' | 'notes' | 'drift' | 'prefer' | 'step' | 'prompt' | 'raw' | 'resume' | 'timeline' | 'signatures'
>;

/** What is shown as it was at an earlier event, too. */
type Earlier = 'session' | 'run' | 'notes' | 'step' | 'raw';

/** What the page of a session asks for. */
export function runHandlers(now: ExchangeServices): { readonly [name in RunPath]: Handler } {
  return { ...readHandlers(now), ...laterHandlers(now) };
}

function readHandlers(now: ExchangeServices): { readonly [name in Earlier]: Handler } {
  const asOf =
    (handler: (services: ExchangeServices, context: Context) => Promise<Response>): Handler =>
    async (context) => {
      const sessionId = SessionId.schema.safeParse(context.req.param('session'));
      const until = context.req.query('until');
      if (until === undefined || !sessionId.success) return handler(now, context);
      if (!/^\d{1,9}$/.test(until)) return invalidRequest(context);
      const then = await servicesAsOf(now, sessionId.data, Number(until));
      return then.isErr() ? reply(context, err(now.explain(then.error))) : handler(then.value, context);
    };
  return {
    session: asOf(async (services, context) => {
      const asked = context.req.param('session') ?? '';
      const sessionId = SessionId.schema.safeParse(asked);
      const page = sessionId.success ? await sessionPage(services, sessionId.data) : err(NO_SESSION);
      if (page.isOk() || page.error.code !== 'SESSION_NOT_FOUND') return reply(context, page);
      return reply(context, err(await withNearest(services, asked, page.error)));
    }),
    run: asOf(async (services, context) => {
      const at = runIn(context);
      return at === undefined ? invalidRequest(context) : reply(context, await runPageOf(services, at));
    }),
    notes: asOf(async (services, context) => {
      const at = runIn(context);
      const asked = CONSOLE_INPUTS.notes.safeParse(context.req.query());
      if (at === undefined || !asked.success) return invalidRequest(context);
      const { line, from, around, count = NOTES_IN_A_WINDOW } = asked.data;
      return reply(context, await notesPage(services, at, { line, from: around ?? from ?? 0, count }));
    }),
    step: asOf(async (services, context) => {
      const at = nodeIn(context);
      const asked = CONSOLE_INPUTS.step.safeParse(context.req.query());
      if (at === undefined || !asked.success) return invalidRequest(context);
      const { by, line = 'main' } = asked.data;
      return reply(context, await stepPageOf(services, at, { by, line }));
    }),
    raw: asOf(async (services, context) => {
      const at = nodeIn(context);
      const asked = CONSOLE_INPUTS.raw.safeParse(context.req.query());
      if (at === undefined || !asked.success) return invalidRequest(context);
      return reply(context, await rawPage(services, at, { by: asked.data.by }));
    }),
  };
}

function laterHandlers(services: ExchangeServices): {
  readonly [name in Exclude<RunPath, Earlier>]: Handler;
} {
  return {
    timeline: async (context) => {
      const sessionId = SessionId.schema.safeParse(context.req.param('session'));
      if (!sessionId.success) return reply(context, err(NO_SESSION));
      const report = await exportReport(services, [sessionId.data], { isRedacted: false });
      return reply(
        context,
        report.map(({ sessions: [one] }) => ({ moments: one?.timeline ?? [] })),
      );
    },
    signatures: async (context) => {
      const sessionId = SessionId.schema.safeParse(context.req.param('session'));
      return reply(context, sessionId.success ? await signaturesPage(services, sessionId.data) : err(NO_SESSION));
    },
    drift: async (context) => {
      const at = runIn(context);
      return at === undefined ? invalidRequest(context) : reply(context, await driftPage(services, at));
    },
    prefer: async (context) => {
      const at = runIn(context);
      const sent = CONSOLE_INPUTS.prefer.safeParse(await body(context));
      if (at === undefined || !sent.success) return invalidRequest(context);
      return reply(context, await preferPage(services, at, sent.data));
    },
    prompt: async (context) => {
      const at = nodeIn(context);
      return at === undefined ? invalidRequest(context) : reply(context, await promptPage(services, at));
    },
    resume: async (context) => {
      const at = runIn(context);
      const asked = CONSOLE_INPUTS.resume.safeParse(context.req.query());
      if (at === undefined || !asked.success) return invalidRequest(context);
      return reply(context, await resumePage(services, at, asked.data.node));
    },
  };
}

/** Runs a command line in this process; returns the data that it prints with `--json`. */
export type RunCommandWords = (words: readonly string[]) => Promise<Result<object, ErrorEnvelope>>;

/** The requests that are commands: of workflows, and of this machine. */
export function commandHandlers(run: RunCommandWords): { readonly [name in CommandPath]: Handler } {
  const handler =
    (path: CommandPath): Handler =>
    async (context) => {
      const isRead = CONSOLE_PATHS[path][0] === 'GET';
      const sent = COMMAND_INPUTS[path].safeParse(isRead ? context.req.query() : await body(context));
      if (!sent.success) return invalidRequest(context);
      return reply(context, await run(commandWords(path, sent.data as never)));
    };
  const paths = Object.keys(CONSOLE_COMMANDS) as CommandPath[];
  return Object.fromEntries(paths.map((path) => [path, handler(path)])) as { [name in CommandPath]: Handler };
}

function runIn(context: Context): { readonly sessionId: SessionId; readonly runId: RunId } | undefined {
  const sessionId = SessionId.schema.safeParse(context.req.param('session'));
  const runId = RunId.schema.safeParse(context.req.param('run'));
  return sessionId.success && runId.success ? { sessionId: sessionId.data, runId: runId.data } : undefined;
}

/** The step that a request names. */
export function nodeIn(context: Context): { readonly sessionId: SessionId; readonly nodeId: NodeId } | undefined {
  const sessionId = SessionId.schema.safeParse(context.req.param('session'));
  const nodeId = NodeId.schema.safeParse(context.req.param('node'));
  return sessionId.success && nodeId.success ? { sessionId: sessionId.data, nodeId: nodeId.data } : undefined;
}

const NO_SESSION: ErrorEnvelope = {
  ...refusal('There is no such session.', 'It may have been deleted. Go back to the list.'),
  code: 'SESSION_NOT_FOUND',
};
