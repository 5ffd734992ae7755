import { keepsReply, type SessionEvent } from '../../../core/log/event.ts';
import type { StoredReply } from '../../../core/log/events/advance-recorded.ts';
import type { EventIndex, SessionId } from '../../../core/log/ids.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { parseJson } from '../content/parse-stored.ts';

/** Replies that were just recorded. Whoever recorded one hands it out next, and need not wait for the disk for it. */
export type FreshReplies = {
  keep(sessionId: SessionId, recorded: RecordedPlan): void;
  /** The reply of an event, once: who asks again wants to know what is on the disk. */
  take(sessionId: SessionId, eventIndex: EventIndex): StoredReply | undefined;
};

type RecordedPlan = { readonly events: readonly SessionEvent[]; readonly segment: Uint8Array };
type Kept = { readonly eventIndex: EventIndex; readonly line: Uint8Array };

/** One for each session that is written to at the same time. */
const REPLIES_KEPT = 8;
const NEWLINE = 0x0a;

export function freshReplies(): FreshReplies {
  const kept = boundedCache<SessionId, Kept>(REPLIES_KEPT);
  return {
    keep: (sessionId, { events, segment }) => {
      const last = events.at(-1);
      if (last === undefined || !keepsReply(last)) return;
      const start = segment.lastIndexOf(NEWLINE, -2) + 1;
      kept.set(sessionId, { eventIndex: last.eventIndex, line: segment.subarray(start) });
    },
    take: (sessionId, eventIndex) => {
      const known = kept.get(sessionId);
      if (known?.eventIndex !== eventIndex) return undefined;
      kept.delete(sessionId);
      // From the bytes and not from the event: the keys come in their order, so that a replay is the same to the byte.
      return parseJson(known.line)
        .map((event) => (event as Extract<SessionEvent, { kind: 'advance_recorded' }>).data.reply)
        .unwrapOr(undefined);
    },
  };
}
