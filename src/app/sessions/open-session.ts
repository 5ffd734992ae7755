import { err, ok, type Result } from 'neverthrow';
import { parseEvent } from '../../core/log/event.ts';
import type { Salvage } from '../../core/log/health.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import { runPage } from '../../core/sessions/run-page.ts';
import { type NodeHistory, nodeHistory, viewHistory } from '../../core/views/history.ts';
import { applyEvent, checkedView, emptySessionView, type SessionView } from '../../core/views/session-view.ts';
import type { RunPageData } from '../../core/wire/run-shapes.ts';
import type { LoadedSession, LoadRefusal, SessionLog, SessionLogs } from '../ports/session-store.ts';
import { type InspectedSession, type InspectServices, inspectSession } from './inspect-session.ts';

export type OpenServices = InspectServices & { readonly logs: SessionLogs };

/** A session that somebody looks at, with the history of its nodes. */
export type OpenedSession = InspectedSession & {
  readonly history: Pick<NodeHistory, 'at'>;
  /** Why only part of it is shown. */
  readonly salvage: Salvage | undefined;
  /** The steps of a run, made once for each state of the session. */
  readonly runPage: (runId: RunId) => RunPageData | undefined;
};

const SESSIONS_KEPT = 8;

/** A session as it was opened last, and what it was then. */
type Kept = { readonly view: SessionView; readonly stamp: string; readonly session: OpenedSession };

const keptOf = new WeakMap<OpenServices['sessions'], Map<SessionId, Kept>>();

/**
 * Opens a session for display. The store reads only what was added since the last look, and so does this; a session in
 * which nothing changed is not even laid out again.
 */
export async function openSession(
  services: OpenServices,
  sessionId: SessionId,
): Promise<Result<OpenedSession, LoadRefusal>> {
  const prefix = await services.sessions.loadValidPrefix(sessionId);
  if (prefix.isErr()) return err(prefix.error);
  const { view } = prefix.value;
  const all = keptOf.get(services.sessions) ?? new Map<SessionId, Kept>();
  keptOf.set(services.sessions, all);
  const stamp = `${view.nextEventIndex} ${JSON.stringify(await markStamp(services, sessionId))}`;
  const known = all.get(sessionId);
  // A damaged session is read from its start each time, and has a new view.
  if (known?.view === view && known.stamp === stamp) return ok(known.session);
  const inspected = await inspectSession(services, sessionId, 'history');
  if (inspected.isErr()) return err(inspected.error);
  const open = { ...inspected.value, history: viewHistory(inspected.value.view) };
  const session = { ...open, salvage: await salvageOf(services, inspected.value), runPage: pagesOf(open) };
  all.delete(sessionId);
  all.set(sessionId, { view, stamp, session });
  for (const old of [...all.keys()].slice(0, -SESSIONS_KEPT)) all.delete(old);
  return ok(session);
}

const MOMENTS_KEPT = 16;

/** The readers of sessions as they were, by session and event. */
const earlierOf = new WeakMap<OpenServices['sessions'], Map<string, OpenServices['sessions']>>();

/**
 * The same services, for which the session ends with the append that has this event: an append is whole or absent, so
 * there is no state of a session inside of one.
 */
export async function servicesAsOf<Services extends OpenServices>(
  services: Services,
  sessionId: SessionId,
  until: number,
): Promise<Result<Services, LoadRefusal>> {
  const known = earlierOf.get(services.sessions) ?? new Map<string, OpenServices['sessions']>();
  earlierOf.set(services.sessions, known);
  const name = `${sessionId} ${until}`;
  const kept = known.get(name);
  if (kept !== undefined) return ok({ ...services, sessions: kept });
  const log = await services.logs.open(sessionId);
  if (log.isErr()) return err(log.error);
  // What cannot be read is left out: the page shows the start of a damaged session, too.
  const { session: prefix } = await readUntil(log.value, until);
  const sessions = { ...services.sessions, loadValidPrefix: async () => ok(prefix), load: async () => ok(prefix) };
  known.set(name, sessions);
  for (const old of [...known.keys()].slice(0, -MOMENTS_KEPT)) known.delete(old);
  return ok({ ...services, sessions });
}

/**
 * A session as it was with the append that has this event: what was appended since is not in it. If nothing was, this
 * is the session as it is.
 */
export async function sessionAsOf(
  { logs }: Pick<OpenServices, 'logs'>,
  session: LoadedSession,
  until: number,
): Promise<Result<LoadedSession, LoadRefusal>> {
  const log = await logs.open(session.sessionId);
  if (log.isErr()) return err(log.error);
  const last = log.value.appends.at(-1)?.segment;
  if (last !== undefined && last.firstEventIndex <= until) return ok(session);
  const { session: then, refusal } = await readUntil(log.value, until);
  return refusal === undefined ? ok(then) : err(refusal);
}

/** The start of a log through the append that has this event, and why something of it could not be read. */
async function readUntil(
  { sessionId, appends, readEvents }: SessionLog,
  until: number,
): Promise<{ readonly session: LoadedSession; readonly refusal?: LoadRefusal }> {
  const view = emptySessionView();
  const session = { ...checkedView(view, { kind: 'healthy' }), sessionId };
  for (const append of appends.filter(({ segment }) => segment.firstEventIndex <= until)) {
    const stored = await readEvents(append);
    if (stored.isErr()) return { session, refusal: stored.error };
    for (const value of stored.value) parseEvent(value).map((event) => applyEvent(view, event));
  }
  return { session };
}

/** Marks are not part of the log, so they are compared. */
async function markStamp({ marks }: OpenServices, sessionId: SessionId): Promise<unknown> {
  const found = await marks.of(sessionId);
  return found.isErr() ? found.error.code : { ...found.value, closed: [...found.value.closed] };
}

/** Everything that is stored about nodes, read from the log: nothing else keeps it whole. */
export async function storedEvents(
  { logs }: Pick<OpenServices, 'logs'>,
  sessionId: SessionId,
): Promise<Result<NodeHistory, LoadRefusal>> {
  const log = await logs.open(sessionId);
  if (log.isErr()) return err(log.error);
  const history = nodeHistory();
  for (const append of log.value.appends) {
    const stored = await log.value.readEvents(append);
    if (stored.isErr()) break;
    for (const value of stored.value) parseEvent(value).map(history.add);
  }
  return ok(history);
}

async function salvageOf(
  services: OpenServices,
  { sessionId, health, view }: InspectedSession,
): Promise<Salvage | undefined> {
  if (health.kind === 'healthy' || view.nextEventIndex === 0) return undefined;
  const marked = (await services.logs.open(sessionId)).map(({ salvage }) => salvage).unwrapOr(undefined);
  const kind = health.kind === 'unknown_version' ? health.kind : 'corrupt_tail';
  return marked ?? { health: kind, lastEventIndex: (view.nextEventIndex - 1) as Salvage['lastEventIndex'] };
}

function pagesOf(session: Omit<OpenedSession, 'runPage' | 'salvage'>): OpenedSession['runPage'] {
  const made = new Map<RunId, RunPageData>();
  return (runId) => {
    const run = session.view.graph.runs.get(runId);
    const page = made.get(runId) ?? (run && runPage(session, run));
    if (page !== undefined) made.set(runId, page);
    return page;
  };
}
