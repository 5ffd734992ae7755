import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { CollectRefusal, CollectRequest } from '../../../app/ports/collector.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { accessing, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { inBatches } from './in-batches.ts';
import { type MarkedSession, type Marks, refreshMarks } from './marks.ts';

/** No session id begins like this, so what is being removed is no session any more, whenever the power fails. */
const REMOVED = '.removed-';

/** What went with a session. */
export type Removed = SessionSize & { readonly manifestBytes: number };
export type SessionSize = { readonly files: number; readonly bytes: number };

/** Sessions whose last event is too old, unless somebody keeps them. One that does not tell its time stays. */
export function expiredSessions(disk: Disk, marks: Marks, limit: CollectRequest): readonly SessionId[] {
  return [...marks].flatMap(([sessionId, marked]) =>
    isExpired(disk, { sessionId, marked }, limit) ? [sessionId] : [],
  );
}

type Candidate = { readonly sessionId: SessionId; readonly marked: MarkedSession };

function isExpired({ fs, root }: Disk, { sessionId, marked }: Candidate, limit: CollectRequest): boolean {
  if (marked.lastAt === undefined || marked.lastAt >= limit.expiredBeforeMs) return false;
  return fs.size(join(root, layout.keep(sessionId))) === undefined;
}

/** Takes away expired sessions, each at once: first its name, durably, then what was in it. */
export async function removeSessions(
  parts: FileStoreParts,
  marks: Marks,
  limit: CollectRequest,
): Promise<Result<ReadonlyMap<SessionId, Removed>, CollectRefusal>> {
  const { disk } = parts;
  const removed = new Map<SessionId, Removed>();
  const batches = await inBatches(parts, {
    items: expiredSessions(disk, marks, limit),
    prepare: () => refreshMarks(parts, marks),
    each: async (sessionId) => {
      // Since we looked, somebody may have gone on with it or decided to keep it.
      const marked = marks.get(sessionId);
      if (marked === undefined || !isExpired(disk, { sessionId, marked }, limit)) return;
      if (!(await isUnused(parts, sessionId))) return;
      const size = sessionSize(disk, sessionId);
      await disk.fs.rename(join(disk.root, layout.session(sessionId)), join(disk.root, removedName(sessionId)));
      await disk.fs.syncDir(join(disk.root, layout.sessions));
      removed.set(sessionId, { ...size, manifestBytes: marked.manifestBytes });
    },
  });
  if (batches.isErr()) return err(batches.error);
  const swept = await accessing('remove sessions', layout.sessions, () => sweepRemoved(disk));
  return swept.isErr() ? err(swept.error) : ok(removed);
}

/** Removes what this collection or one that was cut off has renamed. */
async function sweepRemoved({ fs, root }: Disk): Promise<void> {
  const sessions = join(root, layout.sessions);
  for (const name of fs.list(sessions).filter((entry) => entry.startsWith(REMOVED))) {
    await fs.removeTree(join(sessions, name));
  }
}

function removedName(sessionId: SessionId): string {
  return join(layout.sessions, `${REMOVED}${sessionId}`);
}

/** Whoever holds the session is about to go on with it. Our own hold need not last: nobody else may write now. */
async function isUnused(parts: FileStoreParts, sessionId: SessionId): Promise<boolean> {
  const locks = await parts.locks();
  const attempt = await locks.tryExclusive([join(parts.disk.root, layout.lock(sessionId))]);
  if (attempt.kind === 'held') attempt.lock.release();
  return attempt.kind === 'held';
}

export function sessionSize({ fs, root }: Disk, sessionId: SessionId): SessionSize {
  const dirs = [layout.session(sessionId), layout.events(sessionId)];
  const sizes = dirs.flatMap((dir) =>
    fs
      .list(join(root, dir))
      .filter((name) => name.endsWith('.jsonl') || name.includes('.jsonl.'))
      .map((name) => fs.size(join(root, dir, name)) ?? 0),
  );
  return { files: sizes.length, bytes: sizes.reduce((whole, size) => whole + size, 0) };
}
