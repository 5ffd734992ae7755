import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { BinRefusal, RestoreRefusal, SessionBin } from '../../../app/ports/upkeep.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { accessing, accessingNow, type Disk, layout } from '../disk/disk.ts';
import { type FileStoreParts, lockFile, sharingStore } from '../file-store-parts.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import { markArrived } from '../session/import-marks.ts';
import { emptySession, refreshSession } from '../session/refresh-session.ts';
import { type Binned, binnedPlace, binnedSessions, manifestBytes } from './binned-sessions.ts';
import { isAbandoned, removedName } from './remove-sessions.ts';

type Index = Pick<FileSessionIndex, 'forget' | 'record' | 'marked'>;

/** A bin beside the sessions: deleting and restoring are one rename each. */
export function fileSessionBin(parts: FileStoreParts, index: Index): SessionBin {
  const { disk } = parts;
  return {
    list: async () =>
      accessingNow('list sessions', layout.sessions, () =>
        binnedSessions(disk).map(({ sessionId, deletedAtMs }) => ({ sessionId, deletedAtMs })),
      ),
    put: async (sessionId, nowMs) => {
      const length = manifestBytes(disk, sessionId) ?? 0;
      const put = await putAway(parts, sessionId, nowMs);
      if (put.isOk()) await index.forget(new Map([[sessionId, length]]));
      return put;
    },
    restore: async (sessionId) => {
      const restored = await sharingStore(parts, async () =>
        accessing('restore session', layout.session(sessionId), () => restore(disk, sessionId)),
      );
      if (restored.isErr()) return err(restored.error);
      if (restored.value !== 'done') return err<never, RestoreRefusal>({ code: restored.value, sessionId });
      const session = refreshSession(disk, emptySession(sessionId, parts.sha256), parts.sha256);
      if (session.isOk() && session.value.health.kind === 'healthy') await index.record(session.value);
      // Every process reads a session again that is reported as gone and is there.
      else await index.forget(new Map([[sessionId, manifestBytes(disk, sessionId) ?? 0]]));
      await index.marked(sessionId);
      return ok(undefined);
    },
  };
}

/** Waits for a running writer. A later writer does not find the session any more. */
async function putAway(parts: FileStoreParts, sessionId: SessionId, nowMs: number): Promise<Result<void, BinRefusal>> {
  const lock = await lockSession(parts, sessionId);
  if (lock.isErr()) return err(lock.error);
  // Windows cannot move a folder in which a file is open.
  const mustRelease = process.platform === 'win32';
  if (mustRelease) lock.value.release();
  try {
    const moved = await sharingStore(parts, async () =>
      accessing('delete session', layout.session(sessionId), async () => {
        if (isAbandoned(parts.disk, sessionId)) return 'not_there';
        await move(parts.disk, layout.session(sessionId), binnedPlace({ sessionId, deletedAtMs: nowMs }));
        return 'done';
      }),
    );
    if (moved.isErr()) return err(moved.error);
    return moved.value === 'done' ? ok(undefined) : err({ code: 'session_not_found', sessionId });
  } finally {
    if (!mustRelease) lock.value.release();
  }
}

/** Locks the lock file only: a damaged manifest may be impossible to open. */
async function lockSession(parts: FileStoreParts, sessionId: SessionId): Promise<Result<HeldLock, BinRefusal>> {
  const attempt = await lockFile(parts, 'lock session', layout.lock(sessionId));
  if (attempt.isErr()) {
    const isGone = attempt.error.code === 'io_failed' && ['ENOENT', 'ENOTDIR'].includes(attempt.error.cause);
    return err(isGone ? { code: 'session_not_found', sessionId } : attempt.error);
  }
  if (attempt.value.kind === 'held') return ok(attempt.value.lock);
  return err({ code: 'session_locked', sessionId, holder: attempt.value.holder });
}

async function restore(disk: Disk, sessionId: SessionId): Promise<'done' | 'not_in_bin' | 'session_exists'> {
  const { fs, root } = disk;
  const binned: Binned | undefined = binnedSessions(disk).findLast((one) => one.sessionId === sessionId);
  if (binned === undefined) return 'not_in_bin';
  if (!isAbandoned(disk, sessionId)) return 'session_exists';
  // A caller that asked for the session meanwhile may have created an empty folder in its place.
  if (fs.list(join(root, layout.session(sessionId))).length > 0)
    await fs.rename(join(root, layout.session(sessionId)), join(root, removedName(sessionId)));
  // The process that deleted it could not remove its claim.
  await fs.removeTree(join(root, binned.place, '.lock.claims'));
  await markArrived(disk, binned.place);
  await move(disk, binned.place, layout.session(sessionId));
  return 'done';
}

async function move({ fs, root }: Disk, from: string, to: string): Promise<void> {
  await fs.rename(join(root, from), join(root, to));
  await fs.syncDir(join(root, layout.sessions));
}
