import type { Sha256 } from '../json/canonical-bytes.ts';
import { dedupeKey, keyParts } from './dedupe-key.ts';
import type { EventKind, EventOf, SessionEvent } from './event.ts';
import { EVENT_VERSION } from './events/event-envelope.ts';
import { derivedBits, EventId, eventIndexSchema, type NodeId, type SessionId } from './ids.ts';

/** What an operation wants recorded, before the log gives it a place. */
export type EventDraft = { [kind in EventKind]: DraftOf<kind> }[EventKind];

export type DraftOf<Kind extends EventKind> = Pick<EventOf<Kind>, 'kind' | 'scope' | 'data'> & KeyOnly<Kind>;

/** Parts of the dedupe key that the event itself does not hold. */
type KeyOnly<Kind extends EventKind> = Kind extends 'observation_recorded'
  ? { readonly keyOnly: { readonly observedFor: NodeId; readonly valueDigest: string } }
  : Kind extends 'step_skipped'
    ? { readonly keyOnly: { readonly ordinal: number } }
    : unknown;

export type Placement = {
  readonly sessionId: SessionId;
  readonly firstEventIndex: number;
  readonly at?: number;
};

/** An event's id follows from what identifies it, so that events of one plan can refer to each other. */
export function eventIdOf(draft: EventDraft, sha256: Sha256): EventId {
  return EventId.of(derivedBits([draft.kind, ...keyParts(draft)], sha256));
}

/** Gives drafts their place in the log. */
export function placeEvents(
  drafts: readonly EventDraft[],
  placement: Placement,
  sha256: Sha256,
): readonly SessionEvent[] {
  return drafts.map((draft, i) => {
    const { keyOnly: _, ...content } = { keyOnly: undefined, ...draft };
    return {
      v: EVENT_VERSION,
      eventId: eventIdOf(draft, sha256),
      eventIndex: eventIndexSchema.parse(placement.firstEventIndex + i),
      sessionId: placement.sessionId,
      dedupeKey: dedupeKey(draft, placement.sessionId),
      ...(placement.at === undefined ? {} : { at: placement.at }),
      ...content,
    } as SessionEvent;
  });
}
