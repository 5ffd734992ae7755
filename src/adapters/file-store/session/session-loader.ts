import { err, ok, type Result } from 'neverthrow';
import type { LoadRefusal } from '../../../app/ports/session-store.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { type BoundedCache, boundedCache } from '../../bounded-cache.ts';
import { layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { emptySession, faultAt, type ManifestFiles, type OpenSession, refreshSession } from './refresh-session.ts';

/** Reads sessions and caches them, so that a further call reads only what was added. */
export type SessionLoader = {
  /** What can be read, whatever its health; empty if there is no such session. */
  refresh(sessionId: SessionId): Result<OpenSession, LoadRefusal>;
  /** A healthy session that has events. */
  load(sessionId: SessionId): Result<OpenSession, LoadRefusal>;
  keep(session: OpenSession): void;
  forget(sessionId: SessionId): void;
};

export function sessionLoader({ sha256 }: FileStoreParts, { trusted, settled }: ManifestFiles): SessionLoader {
  const kept = keptSessions();
  const confirmed = boundedCache<SessionId, Confirmed>(SESSIONS_KEPT);
  const confirmedOf = (sessionId: SessionId): Confirmed => {
    const known = kept.get(sessionId);
    if (known === undefined) return confirmed.get(sessionId) ?? NOTHING_CONFIRMED;
    return { segments: known.segments, count: settled(known.view) };
  };
  const forget = (sessionId: SessionId, last = confirmedOf(sessionId)) => {
    kept.delete(sessionId);
    if (last.count > 0) confirmed.set(sessionId, last);
  };

  function refresh(sessionId: SessionId): Result<OpenSession, LoadRefusal> {
    const known = kept.get(sessionId);
    const last = confirmedOf(sessionId);
    const refreshed = refreshSession(trusted, known ?? emptySession(sessionId, sha256), sha256).map((session) =>
      session.view === known?.view || keepsConfirmed(session, last) ? session : cutSession(session),
    );
    // A session that was read in part cannot be continued from.
    if (refreshed.isErr() || refreshed.value.health.kind !== 'healthy') forget(sessionId, last);
    else {
      kept.set(sessionId, refreshed.value);
      confirmed.delete(sessionId);
    }
    return refreshed;
  }

  function load(sessionId: SessionId): Result<OpenSession, LoadRefusal> {
    return refresh(sessionId).andThen((session) => {
      const refusal = refusalOf(session.health);
      if (refusal !== undefined) return err(refusal);
      return hasEvents(session) ? ok(session) : err({ code: 'session_not_found' as const, sessionId });
    });
  }

  return {
    refresh,
    load,
    keep: (session) => kept.set(session.sessionId, session),
    forget: (sessionId) => forget(sessionId),
  };
}

/** The first segments of a session, which this process has acknowledged or found flushed while it held the lock. */
type Confirmed = Pick<OpenSession, 'segments'> & { readonly count: number };

const NOTHING_CONFIRMED: Confirmed = { segments: [], count: 0 };

/** Whether a session still begins with them. Digests of segments cover their events. */
function keepsConfirmed({ segments }: OpenSession, confirmed: Confirmed): boolean {
  return confirmed.segments.slice(0, confirmed.count).every(({ sha256 }, i) => segments[i]?.sha256 === sha256);
}

/**
 * A session that lacks confirmed events: somebody cut or replaced its manifest. Nothing may be built on what is left. If
 * nothing is left, the session was deleted.
 */
function cutSession(session: OpenSession): OpenSession {
  const { sessionId, health, position, leftovers } = session;
  const isDeleted = !hasEvents(session) && leftovers.length === 0;
  if (health.kind !== 'healthy' || isDeleted) return session;
  const fault = { kind: 'damaged', reason: 'manifest_replaced', offset: position.offset } as const;
  return { ...session, health: faultAt(session, layout.manifest(sessionId), fault) };
}

export function hasEvents({ position }: OpenSession): boolean {
  return position.nextEventIndex > 0;
}

function refusalOf(health: SessionHealth): LoadRefusal | undefined {
  switch (health.kind) {
    case 'healthy':
      return undefined;
    case 'unknown_version':
      return { code: 'unknown_version', place: health.place, offset: health.offset, version: health.version };
    default:
      return { code: 'damaged', damage: health.damage };
  }
}

/** One chat rarely uses more than two or three sessions at a time. */
const SESSIONS_KEPT = 32;
/** A view grows with its session, so a limit on the number of sessions alone would not bound memory. */
const EVENTS_KEPT = 200_000;

/** The most recently used sessions. The last one stays, however large it is. */
export function keptSessions<Session extends OpenSession = OpenSession>(): BoundedCache<SessionId, Session> {
  const sessions = boundedCache<SessionId, Session>(SESSIONS_KEPT);
  return {
    ...sessions,
    set: (sessionId, session) => {
      sessions.set(sessionId, session);
      let events = 0;
      for (const [id, { position }] of sessions.newestFirst()) {
        events += position.nextEventIndex;
        if (events > EVENTS_KEPT && id !== sessionId) sessions.delete(id);
      }
    },
  };
}
