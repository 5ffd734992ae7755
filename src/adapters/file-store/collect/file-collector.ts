import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type {
  CollectCause,
  Collection,
  Collector,
  CollectRefusal,
  CollectRequest,
} from '../../../app/ports/collector.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { accessing, type Disk, putFile } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import { sharingStore } from '../session/store-lock.ts';
import { type Marks, refreshMarks } from './marks.ts';
import {
  expiredSessions,
  type Removed,
  removeSessions,
  type SessionSize,
  sessionSize,
  sweepRemoved,
} from './remove-sessions.ts';
import { type Swept, sweepContent, unreachableFiles } from './sweep-content.ts';

/** Mark and sweep: what no session that stays refers to goes, sessions first. */
export function fileCollector(parts: FileStoreParts, index: Pick<FileSessionIndex, 'forget'>): Collector {
  return {
    collect: async (request) => {
      const locks = await parts.locks();
      if (!locks.hasSharedLocks) return err({ code: 'no_shared_locks' });
      const marks: Marks = new Map();
      const marked = await refreshMarks(parts, marks);
      if (marked.isErr()) return err(marked.error);
      return request.isDryRun ? foresee(parts, marks, request) : collect(parts, { marks, index }, request);
    },

    // Collection has the store for itself while it removes, so a session that is kept here is there, and stays.
    setKept: async (sessionId, isKept) => {
      const set = await sharingStore(parts, async () => setKept(parts.disk, sessionId, isKept));
      if (set.isErr()) return err(set.error);
      return set.value === 'done' ? ok(undefined) : err({ code: 'session_not_found', sessionId });
    },
  };
}

function setKept({ fs, root }: Disk, sessionId: SessionId, isKept: boolean) {
  const place = layout.keep(sessionId);
  return accessing('keep session', place, async () => {
    if (fs.size(join(root, layout.manifest(sessionId))) === undefined) return 'not_there';
    if (isKept) await putFile({ fs, root }, place, new Uint8Array());
    else {
      await fs.remove(join(root, place));
      await fs.syncDir(join(root, layout.session(sessionId)));
    }
    return 'done';
  });
}

type Collecting = { readonly marks: Marks; readonly index: Pick<FileSessionIndex, 'forget'> };

async function collect(
  parts: FileStoreParts,
  { marks, index }: Collecting,
  request: CollectRequest,
): Promise<Result<Collection, CollectRefusal>> {
  const removed = new Map<SessionId, Removed>();
  const swept: Swept[] = [];
  const removal = await removeSessions(parts, { marks, removed }, request);
  await index.forget(new Map([...removed].map(([sessionId, { manifestBytes }]) => [sessionId, manifestBytes])));
  const emptied = await sweepRemoved(parts.disk);
  const sweeping = removal.isErr() ? removal : await sweepUnreachable(parts, { marks, swept }, request.nowMs);

  const sessions = [...removed.keys()];
  const done: Collection = { kind: 'collected', sessions, ...totalOf([...removed.values()], swept) };
  const [refusal] = [sweeping, emptied].flatMap((ended) => (ended.isErr() ? [ended.error] : []));
  if (refusal === undefined) return ok(done);
  return err(removed.size + swept.length === 0 ? refusal : { ...refusal, done });
}

/** Content that only the removed sessions referred to is not reachable any more. */
async function sweepUnreachable(
  parts: FileStoreParts,
  sweeping: { readonly marks: Marks; readonly swept: Swept[] },
  nowMs: number,
): Promise<Result<void, CollectCause>> {
  const refreshed = await refreshMarks(parts, sweeping.marks);
  return refreshed.isErr() ? err(refreshed.error) : sweepContent(parts, sweeping, nowMs);
}

/** The same without doing it; what is written meanwhile may change what will go. */
function foresee({ disk }: FileStoreParts, marks: Marks, request: CollectRequest): Result<Collection, CollectRefusal> {
  const sessions = expiredSessions(disk, marks, request);
  const sizes = sessions.map((sessionId) => sessionSize(disk, sessionId));
  for (const sessionId of sessions) marks.delete(sessionId);
  return unreachableFiles(disk, marks, request.nowMs).map((files) => ({
    kind: 'would_collect',
    sessions,
    ...totalOf(sizes, files),
  }));
}

function totalOf(sessions: readonly SessionSize[], files: readonly Swept[]): SessionSize {
  return {
    files: sessions.reduce((whole, session) => whole + session.files, files.length),
    bytes: [...sessions, ...files].reduce((whole, { bytes }) => whole + bytes, 0),
  };
}
