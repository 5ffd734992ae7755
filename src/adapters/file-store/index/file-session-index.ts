import { join } from 'node:path';
import type { Result } from 'neverthrow';
import type { SessionIndex } from '../../../app/ports/session-index.ts';
import type { SnapshotStore } from '../../../app/ports/snapshot-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { summariseSession } from '../../../app/summarise-session.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { SessionSummary } from '../../../core/views/session-summary.ts';
import { turnTaking } from '../../turn-taking.ts';
import { accessing } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { emptySession, type OpenSession, refreshSession } from '../session/open-session.ts';
import { storedSessions } from '../session/stored-sessions.ts';
import { type IndexFile, indexFile } from './index-file.ts';
import type { IndexEntry } from './index-line.ts';

/** The index with what the store tells it. None of this ever fails: what was missed is found by looking again. */
export type FileSessionIndex = SessionIndex & {
  /** A session has grown. Called by whoever holds it and shares the store. */
  record(session: OpenSession): Promise<void>;
  /** Sessions were removed; told with the length that their manifests had. */
  forget(removed: ReadonlyMap<SessionId, number>): Promise<void>;
  /** Called now and then by a writer that holds no lock on the store. */
  compact(): Promise<void>;
};

type Indexing = {
  readonly parts: FileStoreParts;
  readonly snapshots: SnapshotStore;
  readonly file: IndexFile;
  readonly known: Map<SessionId, IndexEntry>;
  /** What could not be written yet, or was rebuilt while reading, which never writes. The next append takes it along. */
  readonly unwritten: Map<SessionId, IndexEntry>;
  /** Whether what is known was held against the sessions themselves; done once for each process. */
  isValidated: boolean;
};

export function fileSessionIndex(parts: FileStoreParts, snapshots: SnapshotStore): FileSessionIndex {
  const file = indexFile(parts);
  const indexing: Indexing = { parts, snapshots, file, known: new Map(), unwritten: new Map(), isValidated: false };
  const inTurn = turnTaking<'summaries'>();
  return {
    compact: file.compact,
    record: async (session) => {
      const entry = await entryOf(indexing, session);
      if (entry !== undefined) await write(indexing, [entry]);
    },
    forget: (removed) => write(indexing, [...removed].map(tombstone)),
    summaries: () => inTurn('summaries', () => summaries(indexing)),
  };
}

async function summaries(indexing: Indexing): Promise<Result<readonly SessionSummary[], StoreFailure>> {
  return accessing('read index', layout.sessionIndex, async () => {
    for (const entry of indexing.file.growth()) takeIn(indexing.known, entry);
    if (!indexing.isValidated) await validate(indexing);
    return [...indexing.known.values()]
      .flatMap(({ summary }) => summary ?? [])
      .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  });
}

/** Rebuilds what is missing or was made from another length of the log than there is. */
async function validate(indexing: Indexing): Promise<void> {
  const { disk } = indexing.parts;
  const stored = new Set(storedSessions(disk));
  for (const sessionId of indexing.known.keys()) if (!stored.has(sessionId)) indexing.known.delete(sessionId);
  indexing.isValidated = true;
  for (const sessionId of stored) {
    const manifestBytes = disk.fs.size(join(disk.root, layout.manifest(sessionId)));
    const known = indexing.known.get(sessionId);
    if (known?.manifestBytes === manifestBytes && known?.summary !== null) continue;
    const rebuilt = await rebuild(indexing, sessionId);
    // Whoever appended meanwhile knows better.
    if (indexing.known.get(sessionId) !== known) continue;
    if (rebuilt === undefined) indexing.known.delete(sessionId);
    else {
      indexing.known.set(sessionId, rebuilt);
      indexing.unwritten.set(sessionId, rebuilt);
    }
  }
}

/** A damaged session is not offered to anybody; one that could not be read now may be read next time. */
async function rebuild(indexing: Indexing, sessionId: SessionId): Promise<IndexEntry | undefined> {
  const { disk, sha256 } = indexing.parts;
  const session = refreshSession(disk, emptySession(sessionId, sha256), sha256);
  if (session.isErr()) {
    indexing.isValidated = false;
    return undefined;
  }
  const { health, position } = session.value;
  return health.kind === 'healthy' && position.nextEventIndex > 0 ? entryOf(indexing, session.value) : undefined;
}

async function entryOf({ snapshots }: Indexing, session: OpenSession): Promise<IndexEntry | undefined> {
  const { sessionId, position } = session;
  const summary = await summariseSession(session, snapshots);
  if (summary.isErr()) return undefined;
  const manifestIndex = position.nextManifestIndex - 1;
  return { sessionId, manifestBytes: position.offset, manifestIndex, summary: summary.value };
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

/** An entry takes the place of one that was made from no more of the log than it was. */
function takeIn(entries: Map<SessionId, IndexEntry>, entry: IndexEntry): void {
  if (entry.manifestBytes >= (entries.get(entry.sessionId)?.manifestBytes ?? 0)) entries.set(entry.sessionId, entry);
}
