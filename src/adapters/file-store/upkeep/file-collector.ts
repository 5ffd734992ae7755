import { err, ok, type Result } from 'neverthrow';
import type {
  CollectCause,
  Collection,
  Collector,
  CollectRefusal,
  CollectRequest,
  Stayed,
} from '../../../app/ports/upkeep.ts';
import { accessing, accessingNow, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import { forgetMarkVersions } from './file-session-marks.ts';
import { type Marks, noMarks, refreshMarks } from './reachable-content.ts';
import {
  expiredBin,
  expiredSessions,
  type Removal,
  removeSessions,
  type SessionSize,
  sessionSize,
  stayedOf,
  sweepRemoved,
} from './remove-sessions.ts';
import { type Swept, sweepContent, unreachableFiles } from './sweep-content.ts';

/** Mark and sweep: first sessions are removed, then content that no remaining session refers to. */
export function fileCollector(parts: FileStoreParts, index: Pick<FileSessionIndex, 'forget'>): Collector {
  return {
    collect: async (request, onProgress) => {
      const locks = await parts.locks();
      if (!locks.hasSharedLocks) return err({ code: 'no_shared_locks' });
      const marks = noMarks(request);
      const marked = await refreshMarks(parts, marks, onProgress);
      if (marked.isErr()) return err(marked.error);
      return request.isDryRun ? preview(parts, marks, request) : collect(parts, { marks, index }, request);
    },
  };
}

type Collecting = { readonly marks: Marks; readonly index: Pick<FileSessionIndex, 'forget'> };

async function collect(
  parts: FileStoreParts,
  { marks, index }: Collecting,
  request: CollectRequest,
): Promise<Result<Collection, CollectRefusal>> {
  const removed: Removal = { sessions: new Map(), binned: new Map() };
  const swept: Swept[] = [];
  const removal = await removeSessions(parts, { marks, removed }, request);
  await index.forget(new Map([...removed.sessions].map(([id, { manifestBytes }]) => [id, manifestBytes])));
  const names = new Set([
    ...removed.sessions.keys(),
    ...[...removed.binned.values()].map(({ sessionId }) => sessionId),
  ]);
  const forgotten = await accessing('forget marks', layout.markVersions, () => forgetMarkVersions(parts.disk, names));
  const emptied = (await sweepRemoved(parts.disk)).andThen(() => forgotten);
  const sweeping = removal.isErr() ? removal : await sweepUnreachable(parts, { marks, swept }, request.nowMs);

  for (const sessionId of removed.sessions.keys()) marks.sessions.delete(sessionId);
  const stayed = accessingNow('read sessions', layout.sessions, () => stayedOf(parts.disk, marks, request));
  const gone = [...removed.sessions.values(), ...removed.binned.values()];
  const done: Collection = {
    kind: 'collected',
    sessions: [...removed.sessions.keys()],
    binned: [...removed.binned.values()].map(({ sessionId }) => sessionId),
    ...totalOf(gone, swept),
    stayed: stayed.unwrapOr(NOTHING_STAYED),
  };
  const [refusal] = [sweeping, emptied, stayed].flatMap((ended) => (ended.isErr() ? [ended.error] : []));
  if (refusal === undefined) return ok(done);
  return err(gone.length + swept.length === 0 ? refusal : { ...refusal, done });
}

/** Content that only the removed sessions referred to is now unreachable. */
async function sweepUnreachable(
  parts: FileStoreParts,
  sweeping: { readonly marks: Marks; readonly swept: Swept[] },
  nowMs: number,
): Promise<Result<void, CollectCause>> {
  const refreshed = await refreshMarks(parts, sweeping.marks);
  return refreshed.isErr() ? err(refreshed.error) : sweepContent(parts, sweeping, nowMs);
}

/** Reported only together with the reason why it is not known. */
const NOTHING_STAYED: Stayed = { recent: 0, kept: [], inUse: [], timeless: [], inBin: 0 };

/** What collection would remove now. Concurrent writes may change the outcome. */
function preview({ disk }: FileStoreParts, marks: Marks, request: CollectRequest): Result<Collection, CollectRefusal> {
  return accessingNow('read sessions', layout.sessions, () => {
    const sessions = expiredSessions(disk, marks, request);
    const binned = expiredBin(disk, request);
    const places = [...binned.map(({ place }) => place), ...sessions.map((sessionId) => layout.session(sessionId))];
    const sizes = places.map((place) => sessionSize(disk, place));
    for (const sessionId of sessions) marks.sessions.delete(sessionId);
    const stayed = stayedOf(disk, marks, request);
    return { sessions, binned: binned.map(({ sessionId }) => sessionId), sizes, stayed };
  }).andThen(({ sizes, ...rest }) =>
    unreachableFiles(disk, marks, request.nowMs).map((files) => ({
      kind: 'would_collect' as const,
      ...rest,
      ...totalOf(sizes, files),
    })),
  );
}

function totalOf(sessions: readonly SessionSize[], files: readonly Swept[]): SessionSize {
  return {
    files: sessions.reduce((whole, session) => whole + session.files, files.length),
    bytes: [...sessions, ...files].reduce((whole, { bytes }) => whole + bytes, 0),
  };
}
