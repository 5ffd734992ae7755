import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { err, Result } from 'neverthrow';
import type { CollectCause, CollectRequest, Stayed } from '../../../app/ports/upkeep.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { accessing, accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { arrivedMs } from '../session/import-marks.ts';
import { type Binned, binnedSessions } from './binned-sessions.ts';
import { type MarkedSession, type Marks, refreshMarks } from './reachable-content.ts';
import { inBatches, isOld } from './sweep-content.ts';

/** No session id begins like this, so what is being removed is no session any more, whenever the power fails. */
const REMOVED = '.removed-';

/** What went with a session. */
export type Removed = SessionSize & { readonly manifestBytes: number };
export type SessionSize = { readonly files: number; readonly bytes: number };

/** Sessions that nobody wrote to or brought here for too long, unless somebody keeps them. One that does not tell its time stays. */
export function expiredSessions(disk: Disk, marks: Marks, limit: CollectRequest): readonly SessionId[] {
  return [...marks.sessions].flatMap(([sessionId, marked]) =>
    isOverdue(disk, sessionId, { marked, limit }) && !isKept(disk, sessionId) ? [sessionId] : [],
  );
}

/** What was deleted long enough ago to go for good. */
export function expiredBin(disk: Disk, { binnedBeforeMs }: CollectRequest): readonly Binned[] {
  return binnedSessions(disk).filter(({ deletedAtMs }) => deletedAtMs < binnedBeforeMs);
}

/** The sessions that are there, by why they are. */
export function stayedOf(disk: Disk, marks: Marks, limit: CollectRequest): Stayed {
  const stayed = { recent: 0, kept: [] as SessionId[], inUse: [] as SessionId[], timeless: [] as SessionId[] };
  for (const [sessionId, marked] of marks.sessions) {
    if (isAbandoned(disk, sessionId)) continue;
    if (marked.lastAt === undefined) stayed.timeless.push(sessionId);
    else if (!isOverdue(disk, sessionId, { marked, limit })) stayed.recent += 1;
    else (isKept(disk, sessionId) ? stayed.kept : stayed.inUse).push(sessionId);
  }
  return { ...stayed, inBin: marks.bin.size };
}

type Age = { readonly marked: MarkedSession; readonly limit: CollectRequest };

/** Whoever took an old session in a moment ago is not done with it. */
function isOverdue(disk: Disk, sessionId: SessionId, { marked, limit }: Age): boolean {
  const { lastAt } = marked;
  if (lastAt === undefined || lastAt >= limit.expiredBeforeMs) return false;
  return (arrivedMs(disk, sessionId) ?? 0) < limit.expiredBeforeMs;
}

function isKept({ fs, root }: Disk, sessionId: SessionId): boolean {
  return fs.size(join(root, layout.keep(sessionId))) !== undefined;
}

/** What was taken away: sessions, and what was deleted before. */
export type Removal = { readonly sessions: Map<SessionId, Removed>; readonly binned: Map<string, Removed & Binned> };

/** Takes away what is expired, each session at once: first its name, durably, then what was in it. */
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
  // Another collection may have taken it away; then there is no folder to lock either.
  if (marked === undefined) return;
  await ifUnused(parts, sessionId, async () => {
    // Since we looked, somebody may have gone on with it or decided to keep it.
    const isSession = isOverdue(disk, sessionId, { marked, limit }) && !isKept(disk, sessionId);
    if (!isSession && !isAbandoned(disk, sessionId)) return;
    const size = sessionSize(disk, layout.session(sessionId));
    await takeName(disk, layout.session(sessionId), sessionId);
    if (isSession) removed.sessions.set(sessionId, { ...size, manifestBytes: marked.manifestBytes });
    await disk.fs.syncDir(join(disk.root, layout.sessions));
  });
}

/** One that was brought back since we looked is not there. */
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

/** Removes what this collection or one that was cut off has renamed. One that resists does not protect the others. */
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

/** Unlike any name that is left over from before. */
export function removedName(sessionId: SessionId): string {
  return join(layout.sessions, `${REMOVED}${sessionId}-${randomBytes(6).toString('hex')}`);
}

/** What a first append leaves that failed, once nobody can be about to try again. */
function abandonedFolders(disk: Disk, marks: Marks, { nowMs }: CollectRequest): readonly SessionId[] {
  return [...marks.sessions.keys()].filter(
    (sessionId) => isAbandoned(disk, sessionId) && isOld(disk, layout.session(sessionId), nowMs),
  );
}

const NOTHING_OF_WORTH = /^(?:\.lock(?:\..+)?|events|\..+\.tmp)$/;

/** No manifest, and no segment either, which might be all that is left of one. */
export function isAbandoned({ fs, root }: Disk, sessionId: SessionId): boolean {
  const names = [layout.session(sessionId), layout.events(sessionId)].flatMap((dir) => fs.list(join(root, dir)));
  return names.every((name) => NOTHING_OF_WORTH.test(name));
}

/** Whoever holds the session is about to go on with it. Windows moves no folder in which a file is open. */
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

/** The log that lies in a session's folder, wherever that is. */
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
