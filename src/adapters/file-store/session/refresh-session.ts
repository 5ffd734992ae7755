import { dirname, join } from 'node:path';
import { err, errAsync, ok, okAsync, type Result, type ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { Sha256 } from '../../../core/json/canonical-json.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { ArtifactDigest, SessionId } from '../../../core/log/ids.ts';
import { chainGenesis, type SegmentClosed } from '../../../core/log/manifest.ts';
import { addContentRefs, type NamingEvent, noContentRefs } from '../../../core/log/plan/append-plan.ts';
import { applyEvent, emptySessionView, type SessionView } from '../../../core/views/session-view.ts';
import { checkSegment, type StoredSegment } from '../audit/check-segment.ts';
import { digestOf } from '../content/content-files.ts';
import { accessing, accessingNow, type Disk, layout, putFile, readIfFile, type WritableFile } from '../disk/disk.ts';
import { isSalvaged, salvagedHealth } from './import-marks.ts';
import { isCutShort, leftByWriters } from './lines.ts';
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
  /** The size of its segments, and of the artifacts that they name. */
  readonly usage: { bytes: number; readonly artifacts: Set<ArtifactDigest> };
  /** Files that killed writers left, as far as the first read showed them. The next append of this process removes them. */
  readonly leftovers: string[];
  /** The last bytes before the position: if they changed, the manifest was replaced. */
  readonly mark: Uint8Array;
  /** The version of the last segment when its digest was right. Another one must be checked again. */
  readonly lastVersion: string | undefined;
  readonly health: SessionHealth;
};

export type AttestedSegment = Pick<SegmentClosed, 'segmentRelPath' | 'firstEventIndex' | 'sha256'>;

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
    usage: { bytes: 0, artifacts: new Set() },
    leftovers: [],
    mark: new Uint8Array(),
    lastVersion: undefined,
    health: HEALTHY,
  };
}

/**
 * Reads what was added to a session since, by this process or another. Only the end of the manifest is read; if that or
 * the last segment was replaced, everything is read from the start.
 */
export function refreshSession(disk: Disk, known: OpenSession, sha256: Sha256): Result<OpenSession, StoreFailure> {
  const path = layout.manifest(known.sessionId);
  return accessingNow('read session', path, () => {
    if (known.position.offset === 0) return readWhole(disk, known, sha256);
    const bytes = disk.fs.read(join(disk.root, path), known.position.offset - known.mark.length) ?? NOTHING;
    const isSame = Buffer.compare(bytes.subarray(0, known.mark.length), known.mark) === 0;
    const sound = isSame ? withSoundEnd(disk, known) : undefined;
    if (sound === undefined) return readWhole(disk, emptySession(known.sessionId, sha256), sha256);
    return grow(disk, { known: sound, bytes: bytes.subarray(known.mark.length) }, sha256);
  });
}

/** The session after one more segment, whose events are already applied; `lines` are the manifest's up to there. */
export function grownBy(
  known: OpenSession,
  { segment, end, events }: Pick<Transaction, 'segment' | 'end'> & { readonly events: readonly NamingEvent[] },
  { lines, version }: { readonly lines: Uint8Array; readonly version: string | undefined },
): OpenSession {
  attest(known, segment, events);
  return { ...upTo(known, end, lines), lastVersion: version };
}

/** The session if its last segment still is the attested one. Its bytes are read only if somebody may have changed it. */
function withSoundEnd(disk: Disk, known: OpenSession): OpenSession | undefined {
  const last = known.segments.at(-1);
  if (last === undefined) return known;
  const place = join(layout.session(known.sessionId), last.segmentRelPath);
  const lastVersion = disk.fs.version(join(disk.root, place));
  if (lastVersion !== undefined && lastVersion === known.lastVersion) return known;
  const bytes = readIfFile(disk, place);
  return bytes !== undefined && digestOf(bytes) === last.sha256 ? { ...known, lastVersion } : undefined;
}

function attest({ segments, usage }: OpenSession, segment: SegmentClosed, events: readonly NamingEvent[]): void {
  const { segmentRelPath, firstEventIndex, sha256 } = segment;
  segments.push({ segmentRelPath, firstEventIndex, sha256 });
  usage.bytes += segment.bytes;
  const refs = noContentRefs();
  for (const event of events) addContentRefs(refs, event);
  for (const [digest, byteLength] of refs.artifacts) {
    if (!usage.artifacts.has(digest)) usage.bytes += byteLength;
    usage.artifacts.add(digest);
  }
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
  session.leftovers.push(...leftByWriters(names, attestedIn(session)));
  // The mark is set before the first append and removed after the last, so checking it once is enough.
  if (session.position.offset > 0 && isSalvaged(disk, sessionId))
    return { ...session, health: salvagedHealth(sessionId) };
  if (!isCutShort(session.position, names)) return session;
  const { offset } = session.position;
  return { ...session, health: faultAt(session, place, { kind: 'damaged', reason: 'manifest_cut_short', offset }) };
}

export function attestedIn({ segments }: OpenSession): ReadonlySet<string> {
  return new Set(segments.map(({ segmentRelPath }) => segmentRelPath));
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
  let lastVersion: string | undefined;
  for (const transaction of transactions) {
    const place = join(layout.session(known.sessionId), transaction.segment.segmentRelPath);
    // Taken before the bytes, so that a change in between is noticed later.
    if (transaction === transactions.at(-1)) lastVersion = disk.fs.version(join(disk.root, place));
    const segment = { place, bytes: readIfFile(disk, place), transaction };
    const events = readSegment(segment.bytes, transaction.segment);
    if (events.isErr()) {
      const session = reached(last);
      return { ...session, health: faultAt(session, place, events.error) };
    }
    try {
      for (const event of events.value) applyEvent(known.view, event);
      attest(known, transaction.segment, events.value);
    } catch (cause) {
      return withoutSegment(disk, { session: reached(last), segment, cause }, sha256);
    }
    last = transaction;
  }
  const session = last === undefined ? known : { ...reached(last), lastVersion };
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

export function faultAt({ position }: OpenSession, place: string, fault: LogFault): SessionHealth {
  return faultHealth(position.nextEventIndex, place, fault);
}

/** Writes manifests, and tracks how much of them is flushed. Writing needs the session's lock. */
export type ManifestFiles = {
  /** The disk without lines that were written but not flushed. */
  readonly trusted: Disk;
  /** Flushes what was read: the process that wrote it may have died before flushing it. */
  assure(session: OpenSession): ResultAsync<void, StoreFailure>;
  /**
   * The same without the lock and without opening anything for writing, with the segment that holds an event. A writer
   * that cannot flush takes its lines back, so the caller must read the session again.
   */
  assureUnlocked(session: OpenSession, segment: AttestedSegment): ResultAsync<void, StoreFailure>;
  /** How many segments of what was read no writer can take back, because they were flushed under the lock. */
  settled(view: SessionView): number;
  /** Whether an event that was read is known to be flushed. */
  isFlushed(view: SessionView, eventIndex: number): boolean;
  /** Writes the lines of one append at once and flushes them. This commits the append. */
  append(session: OpenSession, growth: Growth): ResultAsync<void, StoreFailure>;
  /**
   * Adds the lines of many appends to a manifest that nobody else has open, by putting a longer file in its place: a
   * write of many lines could be torn in its middle.
   */
  extend(session: OpenSession, growth: Omit<Growth, 'onFlushed'>): ResultAsync<void, StoreFailure>;
};

/** What one append adds to a manifest. */
export type Growth = {
  readonly lines: Uint8Array;
  readonly nextEventIndex: number;
  /** Called once the lines are flushed, before anything in this process can read them. */
  readonly onFlushed: () => void;
};

/** How much of a manifest is known to be flushed. */
type Flushed = Pick<ManifestPosition, 'offset' | 'nextEventIndex'>;

/** Lines that are visible in a file although they may never reach the disk. */
type Unflushed = { readonly offset: number; readonly lines: Uint8Array };

export function manifestFiles(disk: Disk): ManifestFiles {
  // By view and not by id: if another process replaced lines that were read, the session gets a new view.
  const flushedUpTo = new WeakMap<SessionView, Flushed>();
  const settled = new WeakMap<SessionView, number>();
  const unflushed = new Map<string, Unflushed>();
  const pathOf = (sessionId: SessionId) => join(disk.root, layout.manifest(sessionId));

  async function write(session: OpenSession, growth: Growth, size: number): Promise<void> {
    const { sessionId, view, segments, position } = session;
    const { offset } = position;
    const { lines, nextEventIndex, onFlushed } = growth;
    const path = pathOf(sessionId);
    if (size > offset) {
      await keepTornTail(disk, layout.manifest(sessionId), offset);
      await writing(disk, path, (manifest) => manifest.truncate(offset));
    }
    unflushed.set(path, { offset, lines });
    await writing(disk, path, (manifest) => manifest.write(lines));
    if (offset === 0) await disk.fs.syncDir(dirname(path));
    unflushed.delete(path);
    flushedUpTo.set(view, { offset: offset + lines.length, nextEventIndex });
    settled.set(view, segments.length + 1);
    onFlushed();
  }

  return {
    trusted: {
      ...disk,
      fs: { ...disk.fs, read: (path, from) => trustedPart(disk.fs.read(path, from), unflushed.get(path), from) },
    },
    isFlushed: (view, eventIndex) => eventIndex < (flushedUpTo.get(view)?.nextEventIndex ?? 0),
    settled: (view) => settled.get(view) ?? 0,
    assure: ({ sessionId, view, segments, position: { offset, nextEventIndex } }) => {
      const settle = () => void settled.set(view, segments.length);
      if (offset === 0 || flushedUpTo.get(view)?.offset === offset) return okAsync(settle());
      const path = pathOf(sessionId);
      return accessing('flush manifest', layout.manifest(sessionId), async () => {
        await writing(disk, path, async () => undefined);
        await disk.fs.syncDir(dirname(path));
        flushedUpTo.set(view, { offset, nextEventIndex });
        settle();
      });
    },
    assureUnlocked: ({ sessionId, view, position: { offset, nextEventIndex } }, { segmentRelPath }) => {
      const path = pathOf(sessionId);
      return accessing('flush manifest', layout.manifest(sessionId), async () => {
        await disk.fs.syncFile(join(dirname(path), segmentRelPath));
        await disk.fs.syncFile(path);
        await disk.fs.syncDir(dirname(path));
        flushedUpTo.set(view, { offset, nextEventIndex });
      });
    },
    extend: (session, { lines, nextEventIndex }) => {
      const { offset } = session.position;
      const place = layout.manifest(session.sessionId);
      const replace = async () => {
        const before = disk.fs.read(join(disk.root, place))?.subarray(0, offset) ?? NOTHING;
        await putFile(disk, place, Buffer.concat([before, lines]));
        flushedUpTo.set(session.view, { offset: offset + lines.length, nextEventIndex });
      };
      return uncutSize(disk, session).asyncAndThen(() => accessing('write manifest', place, replace));
    },
    append: (session, growth) => {
      const { sessionId } = session;
      const place = layout.manifest(sessionId);
      // These lines were never acknowledged. If they cannot be removed now, reads skip them and the next append cuts
      // them off.
      const written = uncutSize(disk, session).asyncAndThen((size) =>
        accessing('write manifest', place, () => write(session, growth, size)),
      );
      return written.orElse((failure) =>
        accessing('take back', place, () => takeBack(disk, pathOf(sessionId), unflushed))
          .orElse(() => okAsync(undefined))
          .andThen(() => errAsync(failure)),
      );
    },
  };
}

async function takeBack(disk: Disk, path: string, unflushed: Map<string, Unflushed>): Promise<void> {
  const left = unflushed.get(path);
  if (left === undefined) return;
  const seen = disk.fs.read(path);
  if (seen !== undefined && trustedPart(seen, left).length < seen.length) {
    await writing(disk, path, (manifest) => manifest.truncate(left.offset));
  }
  unflushed.delete(path);
}

/** The size of a manifest before an append. It is refused if somebody removed lines since they were read. */
function uncutSize({ fs, root }: Disk, { sessionId, position }: OpenSession): Result<number, StoreFailure> {
  const place = layout.manifest(sessionId);
  return accessingNow('read session', place, () => fs.size(join(root, place)) ?? 0).andThen((size) =>
    size < position.offset
      ? err<number, StoreFailure>({ code: 'damaged', damage: { reason: 'manifest_replaced', place, offset: size } })
      : ok(size),
  );
}

/**
 * What was read, without our own unflushed lines. If something else follows them, another process has built on them.
 */
function trustedPart<Bytes extends Uint8Array | undefined>(bytes: Bytes, left: Unflushed | undefined, from = 0) {
  if (bytes === undefined || left === undefined || left.offset < from) return bytes;
  const start = left.offset - from;
  const isOurs = bytes.subarray(start).every((byte, i) => left.lines[i] === byte);
  return isOurs ? bytes.subarray(0, start) : bytes;
}

async function writing(disk: Disk, path: string, change: (file: WritableFile) => Promise<void>): Promise<void> {
  const manifest = await disk.fs.openEnd(path);
  try {
    await change(manifest);
    await manifest.sync();
  } finally {
    await manifest.close();
  }
}

/** Keeps what stands in a manifest behind an offset beside it, before it is cut away: nothing is thrown away unseen. */
async function keepTornTail(disk: Disk, manifest: string, offset: number): Promise<void> {
  const torn = disk.fs.read(join(disk.root, manifest), offset) ?? new Uint8Array();
  // The place may have been torn before, when an append behind an earlier cut was cut off too.
  for (let times = 0; ; times++) {
    const place = `${manifest}.torn-${offset}${times === 0 ? '' : `-${times}`}`;
    const kept = disk.fs.read(join(disk.root, place));
    if (kept === undefined || Buffer.compare(kept, torn) === 0) return putFile(disk, place, torn);
  }
}
