import { join } from 'node:path';
import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { LoadRefusal } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { parseDocument } from '../../../core/log/document-schema.ts';
import { keepsReply, type SessionEvent } from '../../../core/log/event.ts';
import { advanceRecordedSchema, type StoredReply } from '../../../core/log/events/graph-events.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { EventIndex, SessionId } from '../../../core/log/ids.ts';
import { type BoundedCache, boundedCache } from '../../bounded-cache.ts';
import type { LockAttempt } from '../../lock/locks.ts';
import { patience, waitForExclusive, waitForShared } from '../../lock/wait-for-lock.ts';
import { damagedContent, digestOf, parseJsonBytes, parseStored } from '../content/file-content-stores.ts';
import { accessing, accessingNow, type Disk, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { splitLines } from './lines.ts';
import { emptySession, type ManifestFiles, type OpenSession, refreshSession } from './refresh-session.ts';

/** Reads sessions and caches them, so that a further call reads only what was added. */
export type SessionLoader = {
  /** What can be read, whatever its health; empty if there is no such session. */
  refresh(sessionId: SessionId): Result<OpenSession, LoadRefusal>;
  /** A healthy session that has events. */
  load(sessionId: SessionId): Result<OpenSession, LoadRefusal>;
  keep(session: OpenSession): void;
  forget(sessionId: SessionId): void;
};

export function sessionLoader({ sha256 }: FileStoreParts, { trusted }: ManifestFiles): SessionLoader {
  const kept = keptSessions();

  function refresh(sessionId: SessionId): Result<OpenSession, LoadRefusal> {
    const refreshed = refreshSession(trusted, kept.get(sessionId) ?? emptySession(sessionId, sha256), sha256);
    // A session that was read in part cannot be continued from.
    if (refreshed.isErr() || refreshed.value.health.kind !== 'healthy') kept.delete(sessionId);
    else kept.set(sessionId, refreshed.value);
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
    forget: (sessionId) => kept.delete(sessionId),
  };
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

/** Waits for the exclusive lock on one file. */
export function lockFile(
  { disk, locks, waiting }: FileStoreParts,
  operation: string,
  place: string,
): ResultAsync<LockAttempt, StoreFailure> {
  return accessing(operation, place, async () => {
    const { tryExclusive } = await locks();
    const path = join(disk.root, place);
    return waitForExclusive({ path, attempt: () => tryExclusive([path]) }, patience(waiting));
  });
}

/** Keeps collection away from the first stored content until the manifest names it. */
export async function sharingStore<Value>(
  { disk, locks, waiting }: FileStoreParts,
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  const attempt = await accessing('share store', layout.storeLock, async () => {
    const { tryShared } = await locks();
    const path = join(disk.root, layout.storeLock);
    return waitForShared({ path, attempt: () => tryShared(path) }, patience(waiting));
  });
  return whileHeld(attempt, 'collection', work);
}

/** Works while a lock is held, and releases it. `running` is what may hold it for longer. */
export async function whileHeld<Value>(
  attempt: Result<LockAttempt, StoreFailure>,
  running: 'collection' | 'key_rotation',
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'busy') return err({ code: 'busy', running, holder: attempt.value.holder });
  try {
    return await work();
  } finally {
    attempt.value.lock.release();
  }
}

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
  return accessingNow('read reply', place, () => disk.fs.read(join(disk.root, place))).andThen((bytes) => {
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
function segmentOf(segments: OpenSession['segments'], eventIndex: number): OpenSession['segments'][number] | undefined {
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
