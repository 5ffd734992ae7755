import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import type { SessionIndex } from '../../../app/ports/session-index.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import {
  healthySummaries,
  type SessionRow,
  type StoredSession,
  sessionRow,
} from '../../../core/sessions/board-rows.ts';
import { NO_MARKS } from '../../../core/sessions/session-state.ts';
import type { SessionSummary } from '../../../core/sessions/session-summary.ts';
import { turnTaking } from '../../lock/wait-for-lock.ts';
import { digestOf } from '../content/content-files.ts';
import { accessingNow, type Disk, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { type PlainRecord, plainRecord } from '../session/plain-record.ts';
import type { OpenSession } from '../session/refresh-session.ts';
import { sessionIdsOnDisk, storedSize } from '../session/stored-sessions.ts';
import { markVersions, readMarks } from '../upkeep/file-session-marks.ts';
import type { EntryMakers } from './entry-makers.ts';
import { type IndexFile, indexFile } from './index-file.ts';
import { entryLine, type IndexEntry, type MarksEntry, marksLine } from './index-lines.ts';

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
 * The index with what the store reports to it. None of this ever fails: whatever was missed is found by the next look
 * at all sessions.
 */
export type FileSessionIndex = SessionIndex & {
  /** A session has grown. The caller holds the session and shares the store. */
  record(session: OpenSession): Promise<void>;
  /** The marks of a session have changed. */
  marked(sessionId: SessionId): Promise<void>;
  /** Sessions were removed, given with the last length of their manifests. */
  forget(removed: ReadonlyMap<SessionId, number>): Promise<void>;
  /** Writes entries that were rebuilt while reading. The caller shares the store. */
  flush(): Promise<void>;
  /** Called regularly by a writer. Compacting takes place in the background. */
  compact(): void;
  /** Resolves once nothing happens in the background. */
  settled(): Promise<void>;
};

/** What is known of sessions. Any part may be missing, and any part may be out of date. */
type Known = { readonly entries: Map<SessionId, IndexEntry>; readonly marks: Map<SessionId, MarksEntry> };

type Indexing = {
  readonly parts: FileStoreParts;
  readonly makers: () => Promise<EntryMakers>;
  readonly file: IndexFile;
  readonly known: Known;
  /** What could not be written yet, or was rebuilt by a reader, which never writes. The next append writes it. */
  readonly unwritten: Known;
  /** Sessions of the last look that are not healthy, with what can be read of them. */
  readonly unreadable: Map<SessionId, Pick<StoredSession, 'summary' | 'health'>>;
  /** Sessions that were reported as gone. Those that are there are only part of one. */
  readonly doubtful: Set<SessionId>;
  /** The sessions as they were last returned, and which of them have changed since. */
  readonly rows: Map<SessionId, SessionRow>;
  readonly changed: Set<SessionId>;
  listing: readonly SessionRow[];
  /** When the entries were last compared with the sessions themselves. */
  lookedMs: number;
  looking: Promise<void> | undefined;
};

/**
 * An appender may fail to write its line, and a remover may be killed before it reports. Looking at every session on
 * every call costs too much, so a long-running process looks again after a while, between calls.
 */
const LOOKED_MS = 10_000;
const NEVER = Number.NEGATIVE_INFINITY;

/** The entry makers are loaded only if an entry is missing: usually none is, and they read whole sessions. */
export function fileSessionIndex(parts: FileStoreParts, makers: () => Promise<EntryMakers>): FileSessionIndex {
  const file = indexFile(parts);
  const indexing: Indexing = {
    parts,
    makers,
    file,
    known: nothingKnown(),
    unwritten: nothingKnown(),
    unreadable: new Map(),
    doubtful: new Set(),
    rows: new Map(),
    changed: new Set(),
    listing: [],
    lookedMs: NEVER,
    looking: undefined,
  };
  const inTurn = turnTaking<'sessions'>();
  const sessions = () => inTurn('sessions', () => allSessions(indexing));
  return {
    summarise: async (session) => (await (await makers()).summarise(session)).map((made) => credible(parts, made)),
    compact: file.compact,
    settled: async () => {
      await indexing.looking;
      await file.settled();
    },
    flush: () => write(indexing, []),
    record: async (session) => {
      const entry = await (await makers()).entryOf(session);
      if (entry !== undefined) await write(indexing, [entry]);
    },
    marked: async (sessionId) => {
      const marks = marksNow(parts.disk, sessionId);
      if (marks.isOk()) await write(indexing, [marks.value]);
    },
    forget: (removed) => write(indexing, [...removed].map(tombstone)),
    sessions,
    summaries: async () => (await sessions()).map(healthySummaries),
    inspect: async (stored) => {
      const { sessionId, summary, marks, health } = stored;
      // If the check fails, reading the session reports why.
      const isSound = accessingNow('read session', layout.manifest(sessionId), () =>
        isLastSegmentIntact(parts.disk, sessionId),
      );
      if (summary !== undefined && health?.kind === 'healthy' && isSound.unwrapOr(false)) return ok(stored);
      return (await (await makers()).read(sessionId)).map(({ summary, health }) => ({
        sessionId,
        summary: summary && credible(parts, summary),
        health,
        marks,
      }));
    },
  };
}

function nothingKnown(): Known {
  return { entries: new Map(), marks: new Map() };
}

/** In this order: a session that starts in between has no line yet, and is rebuilt. */
async function allSessions(indexing: Indexing): Promise<Result<readonly SessionRow[], StoreFailure>> {
  const { disk, waiting } = indexing.parts;
  const grown = accessingNow('read index', layout.sessionIndex, () => readGrowth(indexing));
  if (grown.isErr()) return err(grown.error);
  if (waiting.nowMs() - indexing.lookedMs >= LOOKED_MS) {
    const isFirst = indexing.lookedMs === NEVER;
    const names = accessingNow('list sessions', layout.sessions, () => sessionIdsOnDisk(disk));
    if (names.isErr() && isFirst) return err(names.error);
    indexing.lookedMs = waiting.nowMs();
    indexing.looking = look(indexing, names.unwrapOr([...indexing.known.entries.keys()])).finally(() => {
      indexing.looking = undefined;
    });
    if (isFirst) await indexing.looking;
  }
  for (const sessionId of [...indexing.doubtful]) {
    indexing.doubtful.delete(sessionId);
    if (storedSize(disk, sessionId) !== undefined) await renew(indexing, sessionId, true);
  }
  return ok(listing(indexing));
}

/** Rows are made again only for sessions that have changed. */
function listing(indexing: Indexing): readonly SessionRow[] {
  const { changed, rows } = indexing;
  if (changed.size === 0) return indexing.listing;
  for (const sessionId of changed) {
    const row = rowNow(indexing, sessionId);
    if (row === undefined) rows.delete(sessionId);
    else rows.set(sessionId, row);
  }
  changed.clear();
  indexing.listing = [...rows.values()].sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  return indexing.listing;
}

function rowNow({ parts, known, unreadable }: Indexing, sessionId: SessionId): SessionRow | undefined {
  const summary = known.entries.get(sessionId)?.summary ?? undefined;
  const marks = known.marks.get(sessionId)?.marks ?? NO_MARKS;
  const seen = summary === undefined ? unreadable.get(sessionId) : { summary, health: HEALTHY };
  if (seen === undefined) return undefined;
  return sessionRow({ sessionId, summary: seen.summary && credible(parts, seen.summary), health: seen.health, marks });
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * A time in the future was written while a clock was wrong. Then the time of the file counts; if that is in the future
 * too, the session has no time. Otherwise it would stay the latest session for years.
 */
function credible({ disk, nowMs }: FileStoreParts, summary: SessionSummary): SessionSummary {
  const { lastAt, sessionId } = summary;
  if (lastAt === undefined || lastAt <= nowMs() + DAY_MS) return summary;
  const place = layout.manifest(sessionId);
  const modified = accessingNow('read session', place, () => disk.fs.modifiedMs(join(disk.root, place)));
  const witness = modified.unwrapOr(undefined);
  const { lastAt: _, ...timeless } = summary;
  return witness === undefined || witness > nowMs() + DAY_MS ? timeless : { ...summary, lastAt: Math.floor(witness) };
}

function readGrowth(indexing: Indexing): void {
  const { file, known, unwritten, parts } = indexing;
  const { found, listed } = file.growth();
  for (const one of found) {
    takeIn(indexing, known, one);
    // What another process wrote later must not be replaced by what this one has not written yet.
    if ('marks' in one) unwritten.marks.delete(one.sessionId);
    else if (one.manifestBytes >= (unwritten.entries.get(one.sessionId)?.manifestBytes ?? 0))
      unwritten.entries.delete(one.sessionId);
  }
  if (listed === undefined) return;
  // A file that was replaced no longer shows what was removed.
  for (const sessionId of known.entries.keys()) {
    if (!listed.has(sessionId) && storedSize(parts.disk, sessionId) === undefined) drop(indexing, sessionId);
  }
}

/** So many sessions are looked at before others take their turn. */
const LOOKED_AT_ONCE = 500;

/** Compares what is known with the sessions themselves: rebuilds what is missing or was made from something else. */
async function look(indexing: Indexing, names: readonly SessionId[]): Promise<void> {
  const { parts, known, unreadable } = indexing;
  const { disk } = parts;
  const present = new Set(names);
  for (const sessionId of [...known.entries.keys(), ...unreadable.keys()]) {
    if (!present.has(sessionId) && storedSize(disk, sessionId) === undefined) drop(indexing, sessionId);
  }
  const versions = accessingNow('list marks', layout.markVersions, () => markVersions(disk)).unwrapOr(new Map());
  const hasMarks = versions.size + known.marks.size > 0;
  for (const [i, sessionId] of names.entries()) {
    if (i % LOOKED_AT_ONCE === LOOKED_AT_ONCE - 1) await setImmediate();
    const isMarked = hasMarks && (known.marks.get(sessionId)?.version ?? '') !== (versions.get(sessionId) ?? '');
    const size = storedSize(disk, sessionId);
    if (size === undefined) forgetEntry(indexing, sessionId);
    else if (isMarked || !isCurrent(indexing, sessionId, size)) await renew(indexing, sessionId, isMarked);
  }
}

/** Whether the entry of a session was made from the log that it has now. */
function isCurrent({ parts, known }: Indexing, sessionId: SessionId, size: number): boolean {
  const entry = known.entries.get(sessionId);
  const isSame = entry !== undefined && entry.summary !== null && entry.manifestBytes === size;
  return isSame && !mayGetName(parts.disk, entry);
}

/** Reads a session again, because it has another length or may have been marked as partial, and its marks. */
async function renew(indexing: Indexing, sessionId: SessionId, isMarked: boolean): Promise<void> {
  const { parts, known, unreadable, makers } = indexing;
  const marks = isMarked ? marksNow(parts.disk, sessionId) : undefined;
  if (marks?.isOk()) takeRebuilt(indexing, marks.value);
  const before = known.entries.get(sessionId);
  const read = (await (await makers()).read(sessionId)).unwrapOr(UNREADABLE);
  // A concurrent append has newer knowledge.
  if (known.entries.get(sessionId) !== before) return;
  if (read.entry !== undefined) return takeRebuilt(indexing, read.entry);
  forgetEntry(indexing, sessionId);
  if (!read.isEmpty) unreadable.set(sessionId, { summary: read.summary, health: read.health });
  // Otherwise the line of when it was healthy would count again, once the marks are written.
  if (before?.summary != null) indexing.unwritten.entries.set(sessionId, tombstone([sessionId, before.manifestBytes]));
}

const HEALTHY: SessionHealth = { kind: 'healthy' };
const UNREADABLE = { entry: undefined, summary: undefined, health: undefined, isEmpty: false };

/** Whether a workflow that could not be read may be readable now. */
function mayGetName({ fs, root }: Disk, entry: IndexEntry): boolean {
  return (entry.summary?.runs ?? []).some(
    ({ workflowName, workflowHash }) =>
      workflowName === undefined && fs.size(join(root, layout.pinnedWorkflow(workflowHash))) !== undefined,
  );
}

/** The version is read first: marks that change meanwhile belong to another one. */
function marksNow(disk: Disk, sessionId: SessionId): Result<MarksEntry, StoreFailure> {
  return accessingNow('read marks', layout.session(sessionId), () => {
    const version = markVersions(disk).get(sessionId) ?? '';
    return { sessionId, version, marks: readMarks(disk, sessionId) };
  });
}

function tombstone([sessionId, manifestBytes]: readonly [SessionId, number]): IndexEntry {
  return { sessionId, manifestBytes, manifestIndex: 0, summary: null };
}

async function write(indexing: Indexing, news: readonly (IndexEntry | MarksEntry)[]): Promise<void> {
  const { file, known, unwritten } = indexing;
  for (const one of news) {
    takeIn(indexing, known, one);
    takeIn(indexing, unwritten, one);
  }
  const [entries, marks] = [[...unwritten.entries.values()], [...unwritten.marks.values()]];
  if (entries.length + marks.length === 0) return;
  if (!(await file.append([...entries.map(entryLine), ...marks.map(marksLine)]))) return;
  for (const one of entries) if (unwritten.entries.get(one.sessionId) === one) unwritten.entries.delete(one.sessionId);
  for (const one of marks) if (unwritten.marks.get(one.sessionId) === one) unwritten.marks.delete(one.sessionId);
}

/** An entry replaces one that was made from the same amount of log or less. */
function takeIn(indexing: Indexing, into: Known, one: IndexEntry | MarksEntry): void {
  const { sessionId } = one;
  if ('marks' in one) into.marks.set(sessionId, one);
  else if (one.manifestBytes >= (into.entries.get(sessionId)?.manifestBytes ?? 0)) {
    into.entries.set(sessionId, one);
    if (one.summary === null) indexing.doubtful.add(sessionId);
    indexing.unreadable.delete(sessionId);
  }
  indexing.changed.add(sessionId);
}

/** What a look found out is newer than anything, and the next append writes it. */
function takeRebuilt(indexing: Indexing, one: IndexEntry | MarksEntry): void {
  for (const into of [indexing.known, indexing.unwritten]) {
    if ('marks' in one) into.marks.set(one.sessionId, one);
    else into.entries.set(one.sessionId, one);
  }
  if (!('marks' in one)) indexing.unreadable.delete(one.sessionId);
  indexing.changed.add(one.sessionId);
}

function forgetEntry({ known, unwritten, unreadable, changed }: Indexing, sessionId: SessionId): void {
  for (const sessions of [known.entries, unwritten.entries, unreadable]) sessions.delete(sessionId);
  changed.add(sessionId);
}

function drop(indexing: Indexing, sessionId: SessionId): void {
  forgetEntry(indexing, sessionId);
  for (const { marks } of [indexing.known, indexing.unwritten]) marks.delete(sessionId);
}
