import type { SessionId } from '../../../core/log/ids.ts';
import { type BoundedCache, boundedCache } from '../../bounded-cache.ts';
import type { OpenSession } from './open-session.ts';

/** How many sessions stay in memory: one chat rarely uses more than two or three at a time. */
const SESSIONS_KEPT = 32;
/** How many events they may have together: a view grows with its session, so their number alone bounds nothing. */
const EVENTS_KEPT = 200_000;

/** Sessions that were used last. The very last stays, however large it is. */
export function keptSessions(): BoundedCache<SessionId, OpenSession> {
  const sessions = boundedCache<SessionId, OpenSession>(SESSIONS_KEPT);
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
