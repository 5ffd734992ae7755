import type { Context } from 'hono';
import { err, ok, type Result } from 'neverthrow';
import {
  comparePage,
  type ExchangeServices,
  exportBundle,
  exportReport,
  importBundle,
  markSession,
  passportFile,
  searchMatches,
} from '../../app/sessions/console-exchange.ts';
import { sessionsPage } from '../../app/sessions/console-pages.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { SessionId } from '../../core/log/ids.ts';
import { reportHtml } from '../../core/report/html/report-html.ts';
import { reportMarkdown } from '../../core/report/markdown/report-markdown.ts';
import { reportJson } from '../../core/report/report.ts';
import type { ConsolePath } from '../../core/wire/console-paths.ts';
import { CONSOLE_INPUTS } from '../../core/wire/console-shapes.ts';

export type Handler = (context: Context) => Promise<Response> | Response;

type Exchange = Extract<ConsolePath, 'sessions' | 'report' | 'mark' | 'import' | 'compare' | 'search'>;

const REPORT_WRITERS = { md: reportMarkdown, html: reportHtml, json: reportJson };

/** What lists sessions, finds them, compares them, puts them away, and brings them in and out of the store. */
export function exchangeHandlers(services: ExchangeServices): { readonly [name in Exchange]: Handler } {
  return {
    sessions: async (context) => {
      const asked = CONSOLE_INPUTS.sessions.safeParse(context.req.query());
      return asked.success ? reply(context, await sessionsPage(services, asked.data)) : invalidRequest(context);
    },
    report: async (context) => {
      const asked = CONSOLE_INPUTS.report.safeParse(context.req.query());
      const named = [context.req.param('session'), ...(asked.data?.also?.split(',') ?? [])];
      const sessionIds = SessionId.schema.array().max(SESSIONS_MAX).safeParse(named);
      if (!sessionIds.success || !asked.success) return invalidRequest(context);
      const [sessionId] = sessionIds.data;
      if (asked.data.as === 'bundle') return bundle(context, services, sessionId);
      if (asked.data.as === 'passport') return passport(context, services, { sessionId, ...asked.data });
      const report = await exportReport(services, sessionIds.data, { isRedacted: asked.data.redact !== '0' });
      if (report.isErr()) return reply(context, err(report.error));
      return context.body(REPORT_WRITERS[asked.data.as](report.value), 200, DOCUMENT);
    },
    mark: async (context) => {
      const sessionId = SessionId.schema.safeParse(context.req.param('session'));
      const sent = CONSOLE_INPUTS.mark.safeParse(await body(context));
      if (!sessionId.success || !sent.success) return invalidRequest(context);
      return reply(context, await markSession(services, sessionId.data, sent.data));
    },
    import: async (context) => {
      const asked = CONSOLE_INPUTS.import.safeParse(context.req.query());
      if (!asked.success) return invalidRequest(context);
      const bytes = new Uint8Array(await context.req.arrayBuffer());
      return lines(context, (tell) => importBundle(services, { bytes, asked: asked.data }, tell));
    },
    compare: async (context) => {
      const asked = CONSOLE_INPUTS.compare.safeParse(context.req.query());
      return asked.success ? reply(context, await comparePage(services, asked.data)) : invalidRequest(context);
    },
    search: (context) => {
      const asked = CONSOLE_INPUTS.search.safeParse(context.req.query());
      return asked.success
        ? lines(context, (tell) => searchMatches(services, asked.data, tell))
        : invalidRequest(context);
    },
  };
}

const SESSIONS_MAX = 200;

/** A document is never opened as a page of this server. */
const DOCUMENT = { 'content-type': 'text/plain; charset=utf-8', 'content-disposition': 'attachment' };

/** The status is sent before the first piece, so a session that cannot be exported at all is refused before that. */
async function bundle(
  context: Context,
  services: ExchangeServices,
  sessionId: SessionId | undefined,
): Promise<Response> {
  if (sessionId === undefined) return invalidRequest(context);
  return new Promise((resolve) => {
    const pieces = new TransformStream<Uint8Array, Uint8Array>();
    const writer = pieces.writable.getWriter();
    const begin = () => resolve(context.body(pieces.readable, 200, DOCUMENT));
    const written = exportBundle(services, {
      sessionId,
      output: {
        write: async (bytes) => {
          begin();
          await writer.write(bytes).catch(() => undefined);
          return ok(undefined);
        },
        finish: async () => ok(await writer.close().catch(() => undefined)),
        // A file that breaks off cannot be imported, and the browser says that the download failed.
        abandon: async () => writer.abort('the session changed').catch(() => undefined),
      },
    });
    void written.then((ended) => ended.isErr() && resolve(reply(context, err(ended.error))));
  });
}

/** Signed with the key of the store, so a page without the key of this launch must not get one. */
async function passport(
  context: Context,
  services: ExchangeServices,
  { sessionId, withhold }: { readonly sessionId: SessionId | undefined; readonly withhold?: string },
): Promise<Response> {
  if (sessionId === undefined) return invalidRequest(context);
  const made = await passportFile(services, sessionId, withhold);
  return made.isErr() ? reply(context, err(made.error)) : context.body(made.value.slice().buffer, 200, DOCUMENT);
}

const LINES = { 'content-type': 'application/x-ndjson; charset=utf-8' };

/** A reply that takes a while: lines of JSON, the last of which says what came of it. */
function lines<Line extends object>(context: Context, work: (tell: (line: Line) => void) => Promise<Line>): Response {
  const encoder = new TextEncoder();
  let isOpen = true;
  return context.body(
    new ReadableStream<Uint8Array>({
      start: async (stream) => {
        const tell = (line: Line) => {
          if (isOpen) stream.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        };
        tell(await work(tell));
        if (isOpen) stream.close();
      },
      cancel: () => {
        isOpen = false;
      },
    }),
    200,
    LINES,
  );
}

/** What is not JSON does not fit any shape. */
export function body(context: Context): Promise<unknown> {
  return context.req.json().catch(() => undefined);
}

export function reply(context: Context, page: Result<object, ErrorEnvelope>): Response {
  return page.isOk() ? context.json(page.value) : context.json(asError(page.error), statusOf(page.error));
}

function statusOf({ code }: ErrorEnvelope): 404 | 409 | 500 {
  if (code === 'SESSION_NOT_FOUND' || code === 'WORKFLOW_NOT_FOUND') return 404;
  return code === 'INTERNAL' || code === 'STORE_IO' ? 500 : 409;
}

export function invalidRequest(context: Context): Response {
  return context.json(asError(INVALID), 400);
}

export function asError(error: ErrorEnvelope): { readonly error: ErrorEnvelope } {
  return { error };
}

export function refusal(message: string, suggestion: string): ErrorEnvelope {
  return { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } };
}

export const RELOAD = 'Reload the page.';
const INVALID = refusal('The request does not have the form that the console sends.', RELOAD);
