import { join } from 'node:path';
import type { Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { Sha256 } from '../../../core/json/canonical-bytes.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { chainGenesis, type SegmentClosed } from '../../../core/log/manifest.ts';
import { applyEvent, emptySessionView, type SessionView } from '../../../core/views/session-view.ts';
import { checkSegment, type StoredSegment } from '../audit/check-segment.ts';
import { accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { isSalvaged, salvagedHealth } from './import-marks.ts';
import { isCutShort } from './lines.ts';
import {
  faultHealth,
  type LogFault,
  type ManifestEnd,
  type ManifestPosition,
  readManifest,
  type Transaction,
} from './read-manifest.ts';
import { readSegment } from './read-segment.ts';

/** A session in memory. It only grows, by what its manifest gained. */
export type OpenSession = {
  readonly sessionId: SessionId;
  readonly view: SessionView;
  readonly position: ManifestPosition;
  /** What the manifest attests for every segment. */
  readonly segments: AttestedSegment[];
  /** The last bytes before the position: if they changed, the manifest was replaced. */
  readonly mark: Uint8Array;
  readonly health: SessionHealth;
};

type AttestedSegment = Pick<SegmentClosed, 'segmentRelPath' | 'firstEventIndex' | 'sha256'>;

const HEALTHY: SessionHealth = { kind: 'healthy' };
/** Enough for a whole record: its chain value, which covers everything before it, is near its start. */
const MARK_BYTES = 512;
const NOTHING = new Uint8Array();

export function emptySession(sessionId: SessionId, sha256: Sha256): OpenSession {
  const chain = chainGenesis(sessionId, sha256);
  return {
    sessionId,
    view: emptySessionView(),
    position: { offset: 0, chain, nextManifestIndex: 0, nextEventIndex: 0 },
    segments: [],
    mark: new Uint8Array(),
    health: HEALTHY,
  };
}

/**
 * Reads what was added to a session since, by this process or another. Only the end of the manifest is read; a replaced
 * manifest is read from the start.
 */
export function refreshSession(disk: Disk, known: OpenSession, sha256: Sha256): Result<OpenSession, StoreFailure> {
  const path = layout.manifest(known.sessionId);
  return accessingNow('read session', path, () => {
    if (known.position.offset === 0) return readWhole(disk, known, sha256);
    const bytes = disk.fs.read(join(disk.root, path), known.position.offset - known.mark.length) ?? NOTHING;
    if (!startsWith(bytes, known.mark)) return readWhole(disk, emptySession(known.sessionId, sha256), sha256);
    return grow(disk, { known, bytes: bytes.subarray(known.mark.length) }, sha256);
  });
}

/**
 * The session after one more segment, whose events are already applied. `lines` are the manifest's lines up to there.
 */
export function grownBy(
  known: OpenSession,
  { segment, end }: Pick<Transaction, 'segment' | 'end'>,
  lines: Uint8Array,
): OpenSession {
  attest(known, segment);
  return upTo(known, end, lines);
}

function attest({ segments }: OpenSession, { segmentRelPath, firstEventIndex, sha256 }: SegmentClosed): void {
  segments.push({ segmentRelPath, firstEventIndex, sha256 });
}

/** A slice of a `Buffer` is not a copy: it would keep the whole manifest in memory. */
function upTo(known: OpenSession, end: ManifestPosition, lines: Uint8Array): OpenSession {
  return { ...known, position: end, mark: new Uint8Array(lines.subarray(-MARK_BYTES)) };
}

/** Names are listed before the manifest is read, so that a concurrent append does not look like a cut-off manifest. */
function readWhole(disk: Disk, empty: OpenSession, sha256: Sha256): OpenSession {
  const { sessionId } = empty;
  const names = disk.fs.list(join(disk.root, layout.events(sessionId)));
  const place = layout.manifest(sessionId);
  const session = grow(disk, { known: empty, bytes: disk.fs.read(join(disk.root, place)) ?? NOTHING }, sha256);
  if (session.health.kind !== 'healthy') return session;
  // The mark is set before the first append and removed after the last, so checking it once is enough.
  if (session.position.offset > 0 && isSalvaged(disk, sessionId))
    return { ...session, health: salvagedHealth(sessionId) };
  if (!isCutShort(session.position, names)) return session;
  const { offset } = session.position;
  return { ...session, health: faultAt(session, place, { kind: 'damaged', reason: 'manifest_cut_short', offset }) };
}

function grow(
  disk: Disk,
  { known, bytes }: { readonly known: OpenSession; readonly bytes: Uint8Array },
  sha256: Sha256,
): OpenSession {
  if (bytes.length === 0) return known;
  const { transactions, end } = readManifest(bytes, known, sha256);
  const reached = (last: Transaction | undefined) =>
    last === undefined ? known : upTo(known, last.end, bytes.subarray(0, last.end.offset - known.position.offset));
  let last: Transaction | undefined;
  for (const transaction of transactions) {
    const place = join(layout.session(known.sessionId), transaction.segment.segmentRelPath);
    const segment = { place, bytes: disk.fs.read(join(disk.root, place)), transaction };
    const events = readSegment(segment.bytes, transaction.segment);
    if (events.isErr()) {
      const session = reached(last);
      return { ...session, health: faultAt(session, place, events.error) };
    }
    try {
      for (const event of events.value) applyEvent(known.view, event);
    } catch (cause) {
      return withoutSegment(disk, { session: reached(last), segment, cause }, sha256);
    }
    attest(known, transaction.segment);
    last = transaction;
  }
  const session = reached(last);
  return { ...session, health: healthAt(session, end) };
}

type Failed = {
  readonly session: OpenSession;
  readonly segment: Omit<StoredSegment, 'before'>;
  readonly cause: unknown;
};

/**
 * A digest only proves that events are the attested ones. A forger of both can craft events that the views cannot
 * apply. The view is then half changed, so everything before is read again. If nothing else is wrong with the events,
 * the view has a bug.
 */
function withoutSegment(disk: Disk, { session, segment, cause }: Failed, sha256: Sha256): OpenSession {
  const { sessionId, position } = session;
  const manifest = disk.fs.read(join(disk.root, layout.manifest(sessionId))) ?? NOTHING;
  const bytes = manifest.subarray(0, position.offset);
  const before = grow(disk, { known: emptySession(sessionId, sha256), bytes }, sha256);
  const checked = checkSegment({ ...segment, before: before.view });
  if (checked.isOk()) throw cause;
  const { place, offset } = checked.error;
  return { ...before, health: faultAt(before, place, { kind: 'damaged', reason: 'segment_wrong_events', offset }) };
}

function healthAt(session: OpenSession, end: ManifestEnd): SessionHealth {
  if (end.kind === 'clean' || end.kind === 'torn') return HEALTHY;
  return faultAt(session, layout.manifest(session.sessionId), end);
}

function faultAt({ position }: OpenSession, place: string, fault: LogFault): SessionHealth {
  return faultHealth(position.nextEventIndex, place, fault);
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, start.length), start) === 0;
}
