import { dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { Collection, Collector, CollectRefusal, CollectRequest } from '../../../app/ports/collector.ts';
import { accessing, putFile } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import { type Marks, refreshMarks } from './marks.ts';
import { expiredSessions, removeSessions, type SessionSize, sessionSize } from './remove-sessions.ts';
import { type Swept, sweepContent, unreachableFiles } from './sweep-content.ts';

/** Mark and sweep: what no session that stays refers to goes, sessions first. */
export function fileCollector(parts: FileStoreParts, index: Pick<FileSessionIndex, 'forget'>): Collector {
  const { disk } = parts;
  return {
    collect: async (request) => {
      const locks = await parts.locks();
      if (!locks.hasSharedLocks) return err({ code: 'no_shared_locks' });
      const marks: Marks = new Map();
      const marked = refreshMarks(parts, marks);
      if (marked.isErr()) return err(marked.error);
      return request.isDryRun ? foresee(parts, marks, request) : collect(parts, { marks, index }, request);
    },

    setKept: (sessionId, isKept) =>
      Promise.resolve(
        accessing('keep session', layout.keep(sessionId), async () => {
          if (isKept) return putFile(disk, layout.keep(sessionId), new Uint8Array());
          const path = join(disk.root, layout.keep(sessionId));
          await disk.fs.remove(path);
          await disk.fs.syncDir(dirname(path));
        }),
      ),
  };
}

type Collecting = { readonly marks: Marks; readonly index: Pick<FileSessionIndex, 'forget'> };

async function collect(
  parts: FileStoreParts,
  { marks, index }: Collecting,
  request: CollectRequest,
): Promise<Result<Collection, CollectRefusal>> {
  const removed = await removeSessions(parts, marks, request);
  if (removed.isErr()) return err(removed.error);
  await index.forget(new Map([...removed.value].map(([sessionId, { manifestBytes }]) => [sessionId, manifestBytes])));

  // Content that only the removed sessions referred to is not reachable any more.
  const refreshed = refreshMarks(parts, marks);
  if (refreshed.isErr()) return err(refreshed.error);
  const swept = await sweepContent(parts, marks, request.nowMs);
  if (swept.isErr()) return err(swept.error);
  const sessions = [...removed.value.keys()];
  return ok({ kind: 'collected', sessions, ...totalOf([...removed.value.values()], swept.value) });
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
