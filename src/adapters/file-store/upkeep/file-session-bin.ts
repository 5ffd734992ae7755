import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { BinnedSession, BinRefusal, RestoreRefusal, SessionBin } from '../../../app/ports/upkeep.ts';
import { SessionId } from '../../../core/log/ids.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { patience, waitForExclusive } from '../../lock/wait-for-lock.ts';
import { accessing, accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import { markArrived } from '../session/import-marks.ts';
import { emptySession, refreshSession } from '../session/open-session.ts';
import { sharingStore } from '../session/store-lock.ts';
import { isAbandoned, removedName } from './remove-sessions.ts';

type Index = Pick<FileSessionIndex, 'forget' | 'record'>;

/** A bin beside the sessions: putting something in and taking it out is one rename each. */
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
      return ok(undefined);
    },
  };
}

/** Whoever writes to the session is waited for; whoever comes later finds none. */
async function putAway(parts: FileStoreParts, sessionId: SessionId, nowMs: number): Promise<Result<void, BinRefusal>> {
  const lock = await lockSession(parts, sessionId);
  if (lock.isErr()) return err(lock.error);
  // Windows moves no folder in which a file is open.
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

/** The lock file alone: a manifest may be damaged so that it cannot even be opened. */
async function lockSession(parts: FileStoreParts, sessionId: SessionId): Promise<Result<HeldLock, BinRefusal>> {
  const place = layout.lock(sessionId);
  const path = join(parts.disk.root, place);
  const attempt = await accessing('lock session', place, async () => {
    const locks = await parts.locks();
    return waitForExclusive({ path, attempt: () => locks.tryExclusive([path]) }, patience(parts.waiting));
  });
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
  // Whoever asked for the session meanwhile may have made an empty folder in its place.
  if (fs.list(join(root, layout.session(sessionId))).length > 0)
    await fs.rename(join(root, layout.session(sessionId)), join(root, removedName(sessionId)));
  // Who deleted it could not take its claim back.
  await fs.removeTree(join(root, binned.place, '.lock.claims'));
  await markArrived(disk, binned.place);
  await move(disk, binned.place, layout.session(sessionId));
  return 'done';
}

async function move({ fs, root }: Disk, from: string, to: string): Promise<void> {
  await fs.rename(join(root, from), join(root, to));
  await fs.syncDir(join(root, layout.sessions));
}

/** A deleted session, with the place of its folder. */
export type Binned = BinnedSession & { readonly place: string };

/** No session id begins like this; the folder stays beside the others, so that one rename moves it and back. */
const BINNED = /^\.deleted-(sess_[0-9a-z]+)\.(\d+)$/;

function binnedPlace({ sessionId, deletedAtMs }: BinnedSession): string {
  return join(layout.sessions, `.deleted-${sessionId}.${deletedAtMs}`);
}

/** Everything in the bin; what was deleted last comes last. */
export function binnedSessions({ fs, root }: Disk): readonly Binned[] {
  return fs
    .list(join(root, layout.sessions))
    .flatMap((name) => {
      const [, id, at] = BINNED.exec(name) ?? [];
      const sessionId = SessionId.schema.safeParse(id).data;
      return sessionId === undefined
        ? []
        : [{ sessionId, deletedAtMs: Number(at), place: join(layout.sessions, name) }];
    })
    .sort((a, b) => a.deletedAtMs - b.deletedAtMs);
}

/** The disk as whoever looks at the session finds it, were it still in its place. For reading only. */
export function diskOf(disk: Disk, { sessionId, place }: Binned): Disk {
  const { fs, root } = disk;
  const before = join(root, layout.session(sessionId));
  const now = (path: string) => (path.startsWith(before) ? join(root, place) + path.slice(before.length) : path);
  return {
    root,
    fs: {
      ...fs,
      read: (path, from) => fs.read(now(path), from),
      size: (path) => fs.size(now(path)),
      list: (path) => fs.list(now(path)),
    },
  };
}

/** How long the manifest of a session is; no length where that cannot be told. */
export function manifestBytes({ fs, root }: Disk, sessionId: SessionId): number | undefined {
  const place = layout.manifest(sessionId);
  return accessingNow('read session', place, () => fs.size(join(root, place)) ?? 0).unwrapOr(undefined);
}
