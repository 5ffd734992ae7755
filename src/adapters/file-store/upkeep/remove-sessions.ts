import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { err, Result } from 'neverthrow';
import type { CollectCause, CollectRequest, Stayed } from '../../../app/ports/upkeep.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { accessing, accessingNow, type Disk, isOld, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { arrivedMs } from '../session/import-marks.ts';
import { type Binned, binnedSessions } from './binned-sessions.ts';
import { type MarkedSession, type Marks, refreshMarks } from './reachable-content.ts';
import { inBatches } from './sweep-content.ts';

/** No session id starts like this, so a folder that is being removed is not a session, even after a power cut. */
const REMOVED = '.removed-';

/** The size of a removed session. */
export type Removed = SessionSize & { readonly manifestBytes: number };
export type SessionSize = { readonly files: number; readonly bytes: number };

/** Sessions without a write or an import for too long, unless they are kept. A session without a timestamp stays. */
export function expiredSessions(disk: Disk, marks: Marks, limit: CollectRequest): readonly SessionId[] {
  return [...marks.sessions].flatMap(([sessionId, marked]) =>
    isOverdue(disk, sessionId, { marked, limit }) && !isKept(disk, sessionId) ? [sessionId] : [],
  );
}

/** Deleted sessions that are old enough to be removed for good. */
export function expiredBin(disk: Disk, { binnedBeforeMs }: CollectRequest): readonly Binned[] {
  return binnedSessions(disk).filter(({ deletedAtMs }) => deletedAtMs < binnedBeforeMs);
}

/** The remaining sessions, by reason. */
export function stayedOf(disk: Disk, marks: Marks, limit: CollectRequest): Stayed {
  const stayed = { recent: 0, kept: [] as SessionId[], inUse: [] as SessionId[], timeless: [] as SessionId[] };
  for (const [sessionId, marked] of marks.sessions) {
    if (isAbandoned(disk, sessionId)) continue;
    if (lastWriteMs(disk, sessionId, { marked, limit }) === undefined) stayed.timeless.push(sessionId);
    else if (!isOverdue(disk, sessionId, { marked, limit })) stayed.recent += 1;
    else (isKept(disk, sessionId) ? stayed.kept : stayed.inUse).push(sessionId);
  }
  return { ...stayed, inBin: marks.bin.size };
}

type Age = { readonly marked: MarkedSession; readonly limit: CollectRequest };

/** A session that was imported recently is not expired, however old its events are. */
function isOverdue(disk: Disk, sessionId: SessionId, { marked, limit }: Age): boolean {
  const lastMs = lastWriteMs(disk, sessionId, { marked, limit });
  if (lastMs === undefined || lastMs >= limit.expiredBeforeMs) return false;
  return (arrivedMs(disk, sessionId) ?? 0) < limit.expiredBeforeMs;
}

/** No session is older than the program. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * When a session was last written to. The clock may have been wrong then, so the time of the manifest is a second
 * witness, and the later one of the credible times counts; `undefined` if none is.
 */
function lastWriteMs({ fs, root }: Disk, sessionId: SessionId, { marked, limit }: Age): number | undefined {
  const { lastAt } = marked;
  if (lastAt === undefined) return undefined;
  const modifiedMs = fs.modifiedMs(join(root, layout.manifest(sessionId)));
  const times = [lastAt, modifiedMs ?? 0].filter((ms) => ms >= EARLIEST_MS && ms <= limit.nowMs + DAY_MS);
  return times.length === 0 ? undefined : Math.max(...times);
}

function isKept({ fs, root }: Disk, sessionId: SessionId): boolean {
  return fs.size(join(root, layout.keep(sessionId))) !== undefined;
}

/** What was removed: sessions, and sessions from the bin. */
export type Removal = { readonly sessions: Map<SessionId, Removed>; readonly binned: Map<string, Removed & Binned> };

/** Removes what is expired. Each session loses its name durably first, then its content. */
export async function removeSessions(
  parts: FileStoreParts,
  { marks, removed }: { readonly marks: Marks; readonly removed: Removal },
  limit: CollectRequest,
): Promise<Result<void, CollectCause>> {
  const { disk } = parts;
  const items = accessingNow('read sessions', layout.sessions, () => [
    ...expiredBin(disk, limit),
    ...expiredSessions(disk, marks, limit),
    ...abandonedFolders(disk, marks, limit),
  ]);
  if (items.isErr()) return err(items.error);
  return inBatches(parts, {
    items: items.value,
    prepare: () => refreshMarks(parts, marks),
    each: (item) =>
      typeof item === 'string'
        ? removeSession(parts, item, { marks, removed, limit })
        : removeBinned(disk, item, removed),
  });
}

type Removing = { readonly marks: Marks; readonly removed: Removal; readonly limit: CollectRequest };

async function removeSession(
  parts: FileStoreParts,
  sessionId: SessionId,
  { marks, removed, limit }: Removing,
): Promise<void> {
  const { disk } = parts;
  const marked = marks.sessions.get(sessionId);
  // If another collection removed it, there is no folder to lock either.
  if (marked === undefined) return;
  await ifUnused(parts, sessionId, async () => {
    // It may have grown or been marked as kept since it was inspected.
    const isSession = isOverdue(disk, sessionId, { marked, limit }) && !isKept(disk, sessionId);
    if (!isSession && !isAbandoned(disk, sessionId)) return;
    const size = sessionSize(disk, layout.session(sessionId));
    await takeName(disk, layout.session(sessionId), sessionId);
    if (isSession) removed.sessions.set(sessionId, { ...size, manifestBytes: marked.manifestBytes });
    await disk.fs.syncDir(join(disk.root, layout.sessions));
  });
}

/** A session that was restored meanwhile is not in the bin any more. */
async function removeBinned(disk: Disk, binned: Binned, removed: Removal): Promise<void> {
  if (!binnedSessions(disk).some(({ place }) => place === binned.place)) return;
  const size = sessionSize(disk, binned.place);
  await takeName(disk, binned.place, binned.sessionId);
  removed.binned.set(binned.place, { ...binned, ...size, manifestBytes: 0 });
  await disk.fs.syncDir(join(disk.root, layout.sessions));
}

async function takeName({ fs, root }: Disk, place: string, sessionId: SessionId): Promise<void> {
  await fs.rename(join(root, place), join(root, removedName(sessionId)));
}

/**
 * Removes what this collection or an interrupted one renamed. If one folder cannot be removed, the others still are.
 */
export async function sweepRemoved({ fs, root }: Disk): Promise<Result<void, CollectCause>> {
  const list = () => fs.list(join(root, layout.sessions)).filter((entry) => entry.startsWith(REMOVED));
  const names = accessingNow('list sessions', layout.sessions, list);
  if (names.isErr()) return err(names.error);
  const swept: Result<void, CollectCause>[] = [];
  for (const name of names.value) {
    const place = join(layout.sessions, name);
    swept.push(await accessing('remove session', place, () => fs.removeTree(join(root, place))));
  }
  return Result.combine(swept).map(() => undefined);
}

/** A name that no leftover folder has. */
export function removedName(sessionId: SessionId): string {
  return join(layout.sessions, `${REMOVED}${sessionId}-${randomBytes(6).toString('hex')}`);
}

/** Folders left by a failed first append, once they are too old for a retry. */
function abandonedFolders(disk: Disk, marks: Marks, { nowMs }: CollectRequest): readonly SessionId[] {
  return [...marks.sessions.keys()].filter(
    (sessionId) => isAbandoned(disk, sessionId) && isOld(disk, layout.session(sessionId), nowMs),
  );
}

const NOTHING_OF_WORTH = /^(?:\.lock(?:\..+)?|events|\..+\.tmp)$/;

/** Holds neither a manifest nor a segment that a lost manifest may have named. */
export function isAbandoned({ fs, root }: Disk, sessionId: SessionId): boolean {
  const names = [layout.session(sessionId), layout.events(sessionId)].flatMap((dir) => fs.list(join(root, dir)));
  return names.every((name) => NOTHING_OF_WORTH.test(name));
}

/** Skips a session that somebody holds: it is in use. Windows cannot move a folder in which a file is open. */
async function ifUnused(parts: FileStoreParts, sessionId: SessionId, work: () => Promise<void>): Promise<void> {
  const locks = await parts.locks();
  const attempt = await locks.tryExclusive([join(parts.disk.root, layout.lock(sessionId))]);
  if (attempt.kind === 'busy') return;
  const mustRelease = process.platform === 'win32';
  try {
    if (mustRelease) attempt.lock.release();
    await work();
  } finally {
    if (!mustRelease) attempt.lock.release();
  }
}

/** The size of the log in a session's folder, wherever the folder is. */
export function sessionSize({ fs, root }: Disk, place: string): SessionSize {
  const dirs = [place, join(place, 'events')];
  const sizes = dirs.flatMap((dir) =>
    fs
      .list(join(root, dir))
      .filter((name) => name.endsWith('.jsonl') || name.includes('.jsonl.'))
      .map((name) => fs.size(join(root, dir, name)) ?? 0),
  );
  return { files: sizes.length, bytes: sizes.reduce((whole, size) => whole + size, 0) };
}
