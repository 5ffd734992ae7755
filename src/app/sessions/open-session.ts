import { err, ok, type Result } from 'neverthrow';
import { parseEvent } from '../../core/log/event.ts';
import type { Salvage } from '../../core/log/health.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import { runPage } from '../../core/sessions/run-page.ts';
import { type NodeHistory, nodeHistory } from '../../core/views/history.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { RunPageData } from '../../core/wire/run-shapes.ts';
import type { LoadRefusal, SessionLogs } from '../ports/session-store.ts';
import { type InspectedSession, type InspectServices, inspectSession } from './inspect-session.ts';

export type OpenServices = InspectServices & { readonly logs: SessionLogs };

/** A session that somebody looks at, with the history of its nodes. */
export type OpenedSession = InspectedSession & {
  readonly history: NodeHistory;
  /** Why only part of it is shown. */
  readonly salvage: Salvage | undefined;
  /** The steps of a run, made once for each state of the session. */
  readonly runPage: (runId: RunId) => RunPageData | undefined;
};

const SESSIONS_KEPT = 8;

/** What is known of a session that was looked at. */
type Kept = {
  readonly view: SessionView;
  readonly history: NodeHistory;
  /** How many appends of the log are in the history, and how many events. */
  appends: number;
  events: number;
  /** Reading is one after the other: two requests must not add the same events. */
  reading: Promise<void>;
  /** The session as it was inspected last, and what it was then. */
  opened: { readonly stamp: string; readonly session: OpenedSession } | undefined;
};

const keptOf = new WeakMap<OpenServices['sessions'], Map<SessionId, Kept>>();

/**
 * Opens a session for display. What was read is kept for the sessions that were looked at last, so looking again costs
 * what was added since.
 */
export async function openSession(
  services: OpenServices,
  sessionId: SessionId,
): Promise<Result<OpenedSession, LoadRefusal>> {
  const prefix = await services.sessions.loadValidPrefix(sessionId);
  if (prefix.isErr()) return err(prefix.error);
  const { view } = prefix.value;
  const kept = keptSession(services, sessionId, view);
  const stamp = `${view.nextEventIndex} ${JSON.stringify(await markStamp(services, sessionId))}`;
  if (kept.opened?.stamp === stamp) return ok(kept.opened.session);
  const inspected = await inspectSession(services, sessionId, 'history');
  if (inspected.isErr()) return err(inspected.error);
  await readOn(services, sessionId, kept);
  const session = { ...inspected.value, history: kept.history };
  const opened = { ...session, salvage: await salvageOf(services, inspected.value), runPage: pagesOf(session) };
  // A damaged session is read from its start each time, so there is nothing to continue from.
  if (inspected.value.view === kept.view) kept.opened = { stamp, session: opened };
  return ok(opened);
}

function keptSession({ sessions }: OpenServices, sessionId: SessionId, view: SessionView): Kept {
  const all = keptOf.get(sessions) ?? new Map<SessionId, Kept>();
  keptOf.set(sessions, all);
  const known = all.get(sessionId);
  const kept =
    known?.view === view
      ? known
      : { view, history: nodeHistory(), appends: 0, events: 0, reading: Promise.resolve(), opened: undefined };
  all.delete(sessionId);
  all.set(sessionId, kept);
  for (const old of [...all.keys()].slice(0, -SESSIONS_KEPT)) all.delete(old);
  return kept;
}

/** Marks are not part of the log, so they are compared. */
async function markStamp({ marks }: OpenServices, sessionId: SessionId): Promise<unknown> {
  const found = await marks.of(sessionId);
  return found.isErr() ? found.error.code : { ...found.value, closed: [...found.value.closed] };
}

/** Adds to the history what the view has and the history does not. */
function readOn(services: OpenServices, sessionId: SessionId, kept: Kept): Promise<void> {
  kept.reading = kept.reading.then(async () => {
    if (kept.events >= kept.view.nextEventIndex) return;
    const log = await services.logs.open(sessionId);
    for (const append of log.isErr() ? [] : log.value.appends.slice(kept.appends)) {
      if (kept.events >= kept.view.nextEventIndex) return;
      const stored = log.isOk() ? await log.value.readEvents(append) : undefined;
      // What the view was made from was readable then. A file that broke since shows at the next look.
      if (stored === undefined || stored.isErr()) return;
      for (const value of stored.value) {
        const event = parseEvent(value);
        if (event.isOk()) kept.history.add(event.value);
      }
      kept.appends += 1;
      kept.events += stored.value.length;
    }
  });
  return kept.reading;
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
