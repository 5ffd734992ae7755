import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { SessionIndex, StoredSession } from '../../../app/ports/session-index.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { SessionSummary } from '../../../core/views/session-summary.ts';
import { turnTaking } from '../../lock/wait-for-lock.ts';
import { digestOf } from '../content/content-files.ts';
import { accessing, accessingNow, type Disk, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { type PlainRecord, plainRecord } from '../session/plain-record.ts';
import type { OpenSession } from '../session/refresh-session.ts';
import { type ManifestSizes, manifestSizes } from '../session/stored-sessions.ts';
import type { EntryMakers } from './entry-makers.ts';
import { type IndexEntry, type IndexFile, type IndexGrowth, indexFile } from './index-file.ts';

/** Covers most manifests completely, and the last dozens of records of the others. */
const END_BYTES = 16 * 1024;

/**
 * Whether the end of a manifest and the last segment are intact. `false` means unknown: then the session must be read.
 */
function isLastSegmentIntact({ fs, root }: Disk, sessionId: SessionId): boolean {
  const manifest = join(root, layout.manifest(sessionId));
  const from = Math.max(0, (fs.size(manifest) ?? 0) - END_BYTES);
  const end = fs.read(manifest, from) ?? new Uint8Array();
  const lines = Buffer.from(end.buffer, end.byteOffset, end.length).toString('latin1').split('\n');
  if (lines.pop() !== '') return false;
  // Reading may have started inside a line.
  const records = (from === 0 ? lines : lines.slice(1)).map(plainRecord);
  if (!records.every((one, i) => one !== undefined && isChained(one, records[i - 1]))) return false;
  const last = records.findLast((one) => one?.record.kind === 'segment_closed')?.record;
  if (last?.kind !== 'segment_closed') return false;
  const segment = fs.read(join(root, layout.session(sessionId), last.segmentRelPath));
  return segment !== undefined && digestOf(segment) === last.sha256;
}

function isChained({ record, chainAfter }: PlainRecord, before: PlainRecord | undefined): boolean {
  return before === undefined || record.chain === chainAfter(before.record.chain);
}

/**
 * The index with what the store reports to it. None of this ever fails: whatever was missed is found by the next
 * validation.
 */
export type FileSessionIndex = SessionIndex & {
  /** A session has grown. The caller holds the session and shares the store. */
  record(session: OpenSession): Promise<void>;
  /** Sessions were removed, given with the last length of their manifests. */
  forget(removed: ReadonlyMap<SessionId, number>): Promise<void>;
  /** Writes entries that were rebuilt while reading. The caller shares the store. */
  flush(): Promise<void>;
  /** Called regularly by a writer that holds no lock on the store. */
  compact(): Promise<void>;
};

type Indexing = {
  readonly parts: FileStoreParts;
  readonly makers: () => Promise<EntryMakers>;
  readonly file: IndexFile;
  readonly known: Map<SessionId, IndexEntry>;
  /**
   * Entries that could not be written yet, or that were rebuilt by a reader, which never writes. The next append writes
   * them.
   */
  readonly unwritten: Map<SessionId, IndexEntry>;
  /** Sessions of the last comparison without an entry. */
  readonly unreadable: Set<SessionId>;
  /** When the entries were last compared with the sessions themselves. */
  validatedMs: number;
};

/**
 * An appender may fail to write its line, and a remover may be killed before it reports. Checking every session on
 * every call costs too much, so a long-running process checks again after a while.
 */
const VALID_MS = 10_000;
const NEVER = Number.NEGATIVE_INFINITY;

/** The entry makers are loaded only if an entry is missing: usually none is, and they read whole sessions. */
export function fileSessionIndex(parts: FileStoreParts, makers: () => Promise<EntryMakers>): FileSessionIndex {
  const file = indexFile(parts);
  const entries = { known: new Map(), unwritten: new Map(), unreadable: new Set<SessionId>() };
  const indexing: Indexing = { parts, makers, file, ...entries, validatedMs: NEVER };
  const inTurn = turnTaking<'summaries'>();
  return {
    summarise: async (session) => (await makers()).summarise(session),
    compact: file.compact,
    flush: () => write(indexing, []),
    record: async (session) => {
      const entry = await (await makers()).entryOf(session);
      if (entry !== undefined) await write(indexing, [entry]);
    },
    forget: (removed) => write(indexing, [...removed].map(tombstone)),
    summaries: () => inTurn('summaries', () => summaries(indexing)),
    unreadable: () => [...indexing.unreadable],
    sessions: () => inTurn('summaries', () => allSessions(indexing)),
    inspect: async (stored) => {
      const { sessionId, summary } = stored;
      // If the check fails, reading the session reports why.
      const isSound = accessingNow('read session', layout.manifest(sessionId), () =>
        isLastSegmentIntact(parts.disk, sessionId),
      );
      return summary !== undefined && isSound.unwrapOr(false)
        ? ok({ ...stored, health: { kind: 'healthy' } })
        : (await makers()).see(sessionId);
    },
  };
}

async function summaries(indexing: Indexing): Promise<Result<readonly SessionSummary[], StoreFailure>> {
  return accessing('read index', layout.sessionIndex, async () => {
    const { isAnotherFile } = readGrowth(indexing);
    const nowMs = indexing.parts.waiting.nowMs();
    // A file that was rewritten no longer shows what was removed.
    if (isAnotherFile || nowMs - indexing.validatedMs >= VALID_MS) {
      await validate(indexing, manifestSizes(indexing.parts.disk));
    }
    return [...indexing.known.values()]
      .flatMap(({ summary }) => summary ?? [])
      .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  });
}

/** One listing shows which sessions there are and which entries are current. */
async function allSessions(indexing: Indexing): Promise<Result<readonly StoredSession[], StoreFailure>> {
  const { disk } = indexing.parts;
  // In this order: a session that starts in between has no line yet, and is rebuilt.
  const sizes = accessingNow('read index', layout.sessionIndex, () => readGrowth(indexing)).andThen(() =>
    accessingNow('list sessions', layout.sessions, () => manifestSizes(disk)),
  );
  if (sizes.isErr()) return err(sizes.error);
  return accessing('read index', layout.sessionIndex, async () => {
    await validate(indexing, sizes.value);
    return [...sizes.value.keys()].map((sessionId) => ({
      sessionId,
      summary: indexing.known.get(sessionId)?.summary ?? undefined,
    }));
  });
}

function readGrowth({ file, known }: Indexing): IndexGrowth {
  const growth = file.growth();
  for (const entry of growth.entries) takeIn(known, entry);
  return growth;
}

/** Rebuilds entries that are missing or were made from another length of the log. */
async function validate(indexing: Indexing, stored: ManifestSizes): Promise<void> {
  for (const entries of [indexing.known, indexing.unwritten]) {
    for (const sessionId of entries.keys()) if (!stored.has(sessionId)) entries.delete(sessionId);
  }
  indexing.validatedMs = indexing.parts.waiting.nowMs();
  indexing.unreadable.clear();
  for (const [sessionId, manifestBytes] of stored) {
    const known = indexing.known.get(sessionId);
    if (known?.manifestBytes === manifestBytes && known?.summary !== null) continue;
    const rebuilt = await (await indexing.makers()).rebuild(sessionId);
    // A concurrent append has newer knowledge.
    if (indexing.known.get(sessionId) !== known) continue;
    if (rebuilt === undefined) {
      indexing.known.delete(sessionId);
      indexing.unreadable.add(sessionId);
    } else {
      indexing.known.set(sessionId, rebuilt);
      indexing.unwritten.set(sessionId, rebuilt);
    }
  }
}

function tombstone([sessionId, manifestBytes]: readonly [SessionId, number]): IndexEntry {
  return { sessionId, manifestBytes, manifestIndex: 0, summary: null };
}

async function write({ file, known, unwritten }: Indexing, entries: readonly IndexEntry[]): Promise<void> {
  for (const entry of entries) {
    takeIn(known, entry);
    takeIn(unwritten, entry);
  }
  const written = [...unwritten.values()];
  if (written.length === 0 || !(await file.append(written))) return;
  for (const entry of written) if (unwritten.get(entry.sessionId) === entry) unwritten.delete(entry.sessionId);
}

/** An entry replaces one that was made from the same amount of log or less. */
function takeIn(entries: Map<SessionId, IndexEntry>, entry: IndexEntry): void {
  if (entry.manifestBytes >= (entries.get(entry.sessionId)?.manifestBytes ?? 0)) entries.set(entry.sessionId, entry);
}
