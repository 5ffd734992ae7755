import { err, ok, type Result } from 'neverthrow';
import type { LoadedSession, LoadRefusal, LoggedAppend } from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import { assert } from '../../core/assert.ts';
import { canonicalLines, type Sha256 } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { parseDocument } from '../../core/log/document-schema.ts';
import type { Salvage, SessionHealth } from '../../core/log/health.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import { originSchema, type SessionOrigin } from '../../core/log/origin.ts';
import { NO_MARKS, type SessionMarks } from '../../core/sessions/session-state.ts';
import { applyEvent } from '../../core/views/session-view.ts';
import { salvagedHealth } from '../file-store/session/import-marks.ts';
import { faultHealth, type LogFault, readManifest } from '../file-store/session/read-manifest.ts';
import { readSegment } from '../file-store/session/read-segment.ts';
import { emptySession, grownBy, type OpenSession } from '../file-store/session/refresh-session.ts';
import { hasEvents, keptSessions } from '../file-store/session/session-loader.ts';
import { turnTaking } from '../lock/wait-for-lock.ts';
import { digestText, type SpaceParts, sql, storeFailure } from './database.ts';

/** A session that was read from its rows. */
export type DatabaseSession = OpenSession & { readonly salvage: Salvage | undefined; readonly marks: SessionMarks };

/** Reads sessions and caches them, so that a further call reads only what was added. */
export type SessionRows = {
  /** What can be read, whatever its health; empty if there is no such session. */
  refresh(sessionId: SessionId): Promise<Result<DatabaseSession, LoadRefusal>>;
  /** A healthy session that has events. */
  load(sessionId: SessionId): Promise<Result<DatabaseSession, LoadRefusal>>;
  /** The manifest of a session, without its events. */
  readLog(sessionId: SessionId): Promise<Result<ReadLog, LoadRefusal>>;
  /** Runs what changes the cached view of a session: no refresh happens meanwhile. */
  alone<Value>(sessionId: SessionId, work: () => Promise<Value>): Promise<Value>;
  /** Whether the cached session has grown since this one was read. They share one view. */
  isBehind(session: DatabaseSession): boolean;
  keep(session: DatabaseSession): void;
  known(sessionId: SessionId): DatabaseSession | undefined;
  forget(sessionId: SessionId): void;
};

export type ReadLog = {
  readonly health: SessionHealth;
  readonly salvage: Salvage | undefined;
  readonly appends: readonly LoggedAppend[];
};

/** The marks of one session, as columns. */
export const MARK_COLUMNS = `s.kept, s.origin,
  coalesce((select json_object_agg(c.run_id, c.closed_at) from wr.closed_run c
    where c.space_id = s.space_id and c.session_id = s.session_id), '{}'::json) as closed`;

/**
 * The head, its marks, the version of the keys, and what was appended after what is known, in one statement: so all are
 * of the same moment.
 */
const READ = sql(
  'read_session',
  `with head as materialized (
     select s.space_id, s.session_id, s.chain, s.next_event_index, s.salvage, ${MARK_COLUMNS},
       (select k.version::text from wr.keyring k where k.space_id = s.space_id) as keyring
     from wr.session s where s.space_id = $1 and s.session_id = $2 and s.binned_at is null)
   select h.chain as head, h.next_event_index::float8 as next_event_index, h.salvage, h.kept, h.origin, h.closed,
     h.keyring, a.records, a.events
   from head h
   left join wr.append a
     on a.space_id = h.space_id and a.session_id = h.session_id and a.first_event_index >= $3
   order by a.first_event_index`,
);
const READ_LOG = sql(
  'read_log',
  `select s.chain as head, s.next_event_index::float8 as next_event_index, s.salvage, a.records
   from wr.session s
   left join wr.append a on a.space_id = s.space_id and a.session_id = s.session_id
   where s.space_id = $1 and s.session_id = $2 and s.binned_at is null
   order by a.first_event_index`,
);

type SessionRow = MarkRow & {
  readonly keyring?: string | null;
  readonly head: Buffer;
  readonly next_event_index: number;
  readonly salvage: Salvage | null;
  readonly records: readonly { readonly firstEventIndex?: number }[] | null;
  readonly events?: Buffer | null;
};

export function wholeSession(sessionId: SessionId, sha256: Sha256): DatabaseSession {
  return { ...emptySession(sessionId, sha256), salvage: undefined, marks: NO_MARKS };
}

/** The marks of sessions as they were when these were loaded. */
export const marksSeen = new WeakMap<LoadedSession, SessionMarks>();

export type MarkRow = {
  readonly kept: boolean;
  readonly origin: unknown;
  readonly closed: { readonly [runId: string]: number };
};

export function marksOf({ kept, origin, closed }: MarkRow): SessionMarks {
  const runs = Object.entries(closed).map(([runId, at]) => [runId as RunId, Number(at)] as const);
  return { isKept: kept, closed: new Map(runs), ...defined({ origin: originOf(origin) }) };
}

function originOf(origin: unknown): SessionOrigin | undefined {
  if (origin === null || origin === undefined) return undefined;
  return parseDocument(originSchema, origin).unwrapOr({ kind: 'unreadable' });
}

/** The place of an append in messages. */
export function appendPlace(sessionId: SessionId, firstEventIndex: number): string {
  return `${sessionId}/append/${firstEventIndex}`;
}

export function sessionRows(
  { database, spaceId, sha256 }: SpaceParts,
  onKeyring: (version: string | undefined) => void,
): SessionRows {
  const kept = keptSessions<DatabaseSession>();
  const alone = turnTaking<SessionId>();

  async function read(known: DatabaseSession): Promise<Result<DatabaseSession, StoreFailure>> {
    const { sessionId, position } = known;
    const found = await database.run(READ, [spaceId, sessionId, position.nextEventIndex]);
    if (found.isErr()) return err(storeFailure(found.error, 'read session', sessionId));
    const rows = found.value as unknown as readonly SessionRow[];
    const [head] = rows;
    // A session that was removed is read from scratch, should one of its name come again.
    if (head === undefined) {
      onKeyring(undefined);
      return ok(wholeSession(sessionId, sha256));
    }
    onKeyring(head.keyring ?? undefined);
    if (head.next_event_index < position.nextEventIndex) {
      kept.delete(sessionId);
      return err({
        code: 'store_went_back',
        sessionId,
        known: position.nextEventIndex,
        found: head.next_event_index,
      });
    }
    const grown = grow({ ...known, salvage: head.salvage ?? undefined, marks: marksOf(head) }, rows, sha256);
    if (grown.health.kind !== 'healthy') {
      // What was cached may be of another history than what is there now: that is read from its start.
      return position.nextEventIndex === 0 ? ok(grown) : read(wholeSession(sessionId, sha256));
    }
    if (digestText(head.head) !== grown.position.chain) {
      if (position.nextEventIndex > 0) return read(wholeSession(sessionId, sha256));
      return ok({ ...grown, health: cutShort(grown) });
    }
    return ok(grown.salvage === undefined ? grown : { ...grown, health: salvagedHealth(sessionId) });
  }

  const refresh: SessionRows['refresh'] = (sessionId) =>
    alone(sessionId, async () => {
      const session = await read(kept.get(sessionId) ?? wholeSession(sessionId, sha256));
      // A session that was read in part cannot be continued from.
      if (session.isErr() || session.value.health.kind !== 'healthy') kept.delete(sessionId);
      else kept.set(sessionId, session.value);
      return session;
    });

  return {
    alone,
    refresh,
    load: async (sessionId) =>
      (await refresh(sessionId)).andThen((session): Result<DatabaseSession, LoadRefusal> => {
        const { health } = session;
        if (health.kind === 'unknown_version') {
          return err({ code: 'unknown_version', place: health.place, offset: health.offset, version: health.version });
        }
        if (health.kind !== 'healthy') return err({ code: 'damaged', damage: health.damage });
        return hasEvents(session) ? ok(session) : err({ code: 'session_not_found', sessionId });
      }),
    readLog: (sessionId) => readLog({ database, spaceId, sha256 }, sessionId),
    isBehind: ({ sessionId, position }) => {
      const now = kept.get(sessionId);
      return now !== undefined && now.position.chain !== position.chain;
    },
    keep: (session) => kept.set(session.sessionId, session),
    known: (sessionId) => kept.get(sessionId),
    forget: (sessionId) => kept.delete(sessionId),
  };
}

/** Reads the records only; segments are read on request. */
async function readLog(
  { database, spaceId, sha256 }: Pick<SpaceParts, 'database' | 'spaceId' | 'sha256'>,
  sessionId: SessionId,
): Promise<Result<ReadLog, LoadRefusal>> {
  const found = await database.run(READ_LOG, [spaceId, sessionId]);
  if (found.isErr()) return err(storeFailure(found.error, 'read log', sessionId));
  const rows = found.value as unknown as readonly SessionRow[];
  const [head] = rows;
  if (head === undefined || head.next_event_index === 0) return err({ code: 'session_not_found', sessionId });
  const empty = wholeSession(sessionId, sha256);
  const { transactions, end } = readManifest(manifestOf(rows), empty, sha256);
  const last = transactions.at(-1)?.end ?? empty.position;
  const salvage = head.salvage ?? undefined;
  const session = { ...empty, position: last };
  const isWhole = end.kind === 'clean' && last.chain === digestText(head.head);
  const fault = end.kind === 'damaged' || end.kind === 'unknown_version' ? faultAt(session, end) : cutShort(session);
  const health = salvage === undefined ? (isWhole ? HEALTHY : fault) : salvagedHealth(sessionId);
  return ok({ health, salvage, appends: transactions });
}

const HEALTHY: SessionHealth = { kind: 'healthy' };

/** The records of appends as the lines of a manifest, so that they are checked as those of a file. */
export function manifestOf(rows: readonly Pick<SessionRow, 'records'>[]): Uint8Array {
  const lines = canonicalLines(rows.flatMap(({ records }) => records ?? []) as Parameters<typeof canonicalLines>[0]);
  assert(lines.isOk(), 'what a database returns as JSON is JSON');
  return lines.value;
}

function grow(known: DatabaseSession, rows: readonly SessionRow[], sha256: Sha256): DatabaseSession {
  let session: DatabaseSession = { ...known, health: HEALTHY };
  for (const row of rows) {
    if (row.records === null) continue;
    const lines = manifestOf([row]);
    const { transactions, end } = readManifest(lines, session, sha256);
    const [transaction] = transactions;
    if (end.kind === 'damaged' || end.kind === 'unknown_version') return { ...session, health: faultAt(session, end) };
    if (transaction === undefined || transactions.length !== 1) return { ...session, health: cutShort(session) };
    const place = appendPlace(session.sessionId, transaction.segment.firstEventIndex);
    const events = readSegment(row.events ?? undefined, transaction.segment);
    if (events.isErr()) {
      return { ...session, health: faultHealth(session.position.nextEventIndex, place, events.error) };
    }
    try {
      for (const event of events.value) applyEvent(session.view, event);
    } catch {
      // A digest only proves that events are the attested ones. The view is half changed, so it is made again.
      const empty = { ...wholeSession(session.sessionId, sha256), salvage: session.salvage };
      const before = known.position.nextEventIndex > 0 ? empty : grow(empty, rows.slice(0, rows.indexOf(row)), sha256);
      const fault = { kind: 'damaged', reason: 'segment_wrong_events', offset: 0 } as const;
      return { ...before, health: faultHealth(before.position.nextEventIndex, place, fault) };
    }
    session = {
      ...session,
      ...grownBy(session, { ...transaction, events: events.value }, { lines, version: undefined }),
    };
  }
  return session;
}

function faultAt({ sessionId, position }: OpenSession, fault: LogFault): SessionHealth {
  return faultHealth(position.nextEventIndex, appendPlace(sessionId, position.nextEventIndex), fault);
}

function cutShort(session: OpenSession): SessionHealth {
  return faultAt(session, { kind: 'damaged', reason: 'manifest_cut_short', offset: session.position.offset });
}
