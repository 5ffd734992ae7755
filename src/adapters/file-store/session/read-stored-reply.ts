import { join } from 'node:path';
import { err, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { advanceRecordedSchema, type StoredReply } from '../../../core/log/events/advance-recorded.ts';
import { segmentRelPath } from '../../../core/log/manifest.ts';
import { parseDocument } from '../../../core/log/schema-refusal.ts';
import { damagedContent, parseStored } from '../content/parse-stored.ts';
import { accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { splitLines } from './lines.ts';
import type { OpenSession } from './open-session.ts';

/** The reply that an `advance_recorded` keeps; views leave it out, because only a replay asks for it. */
export function readStoredReply(
  disk: Disk,
  session: OpenSession,
  eventIndex: number,
): Result<StoredReply, StoreFailure> {
  const { first, last } = segmentAround(session, eventIndex);
  const place = join(layout.session(session.sessionId), segmentRelPath(first, last));
  return accessingNow('read reply', place, () => disk.fs.read(join(disk.root, place))).andThen((bytes) => {
    const line = bytes === undefined ? undefined : splitLines(bytes, 0)[eventIndex - first];
    if (line === undefined) return err(damagedContent(place, 'segment_missing'));
    return parseStored(place, line.bytes, (value) => parseDocument(advanceRecordedSchema, value)).map(
      ({ data }) => data.reply,
    );
  });
}

/** Segments follow each other without gaps, so their first indexes tell their last ones too. */
function segmentAround(session: OpenSession, eventIndex: number): { readonly first: number; readonly last: number } {
  const { segmentStarts, position } = session;
  const at = segmentStarts.findLastIndex((start) => start <= eventIndex);
  const first = segmentStarts[at];
  assert(first !== undefined, `event ${eventIndex} is in no segment`);
  return { first, last: (segmentStarts[at + 1] ?? position.nextEventIndex) - 1 };
}
