import type { SessionEvent } from '../log/event.ts';
import type { SessionId } from '../log/ids.ts';

/**
 * An event as it would stand in another session. Only its session and the key that names the session change: no other
 * id is derived from that of the session, so runs, nodes, attempts and outputs keep theirs.
 */
export function withSessionId(event: SessionEvent, sessionId: SessionId): SessionEvent {
  if (event.sessionId === sessionId) return event;
  const head = `${event.kind}:${event.sessionId}`;
  return { ...event, sessionId, dedupeKey: `${event.kind}:${sessionId}${event.dedupeKey.slice(head.length)}` };
}
