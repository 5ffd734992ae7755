import { join } from 'node:path';
import { err, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { parseDocument } from '../../../core/log/document-schema.ts';
import { keepsReply, type SessionEvent } from '../../../core/log/event.ts';
import { advanceRecordedSchema, type StoredReply } from '../../../core/log/events/graph-events.ts';
import type { EventIndex, SessionId } from '../../../core/log/ids.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { damagedContent, digestOf, parseJsonBytes, parseStored } from '../content/content-files.ts';
import { accessingNow, type Disk, layout, readIfFile } from '../disk/disk.ts';
import { splitLines } from './lines.ts';
import type { OpenSession } from './refresh-session.ts';

/** Reads the reply in an `advance_recorded` event. Views leave it out, because only a replay needs it. */
export function readStoredReply(
  disk: Disk,
  session: OpenSession,
  eventIndex: number,
): Result<StoredReply, StoreFailure> {
  const { segments, position, sessionId } = session;
  const segment = segmentOf(segments, eventIndex);
  // The caller has seen the event, but its lines may have been removed since because they could not be flushed.
  if (segment === undefined || eventIndex >= position.nextEventIndex) {
    const damage = {
      reason: 'manifest_cut_short',
      place: layout.manifest(sessionId),
      offset: position.offset,
    } as const;
    return err({ code: 'damaged', damage });
  }
  const place = join(layout.session(sessionId), segment.segmentRelPath);
  return accessingNow('read reply', place, () => readIfFile(disk, place)).andThen((bytes) => {
    if (bytes === undefined) return err(damagedContent(place, 'segment_missing'));
    // It was intact when it was loaded, which may be long ago.
    if (digestOf(bytes) !== segment.sha256) return err(damagedContent(place, 'segment_digest_mismatch'));
    const line = splitLines(bytes, 0)[eventIndex - segment.firstEventIndex];
    assert(line !== undefined, `segment ${place} holds event ${eventIndex}`);
    return parseStored(place, line.bytes, (value) => parseDocument(advanceRecordedSchema, value)).map(
      ({ data }) => data.reply,
    );
  });
}

/** The last segment that starts at or before an event. They are sorted, and there may be thousands. */
export function segmentOf(
  segments: OpenSession['segments'],
  eventIndex: number,
): OpenSession['segments'][number] | undefined {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBehind = (segments[middle]?.firstEventIndex ?? 0) > eventIndex;
    if (isBehind) high = middle;
    else low = middle + 1;
  }
  return segments[low - 1];
}

/**
 * Replies that were just recorded. The process that recorded one returns it next, and need not read the disk for it.
 */
export type FreshReplies = {
  keep(sessionId: SessionId, recorded: RecordedPlan): void;
  /** The reply of an event, once: a second request must see what is on the disk. */
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
      // From the bytes and not from the event: the keys are then in stored order, so that a replay is the same to the
      // byte.
      return parseJsonBytes(known.line)
        .map((event) => (event as Extract<SessionEvent, { kind: 'advance_recorded' }>).data.reply)
        .unwrapOr(undefined);
    },
  };
}
