import { join } from 'node:path';
import { SessionId } from '../../../core/log/ids.ts';
import { accessingNow, type Disk, layout } from '../disk/disk.ts';
import { isCutShort } from './lines.ts';

/** Every session, oldest first. Unreadable ones are included, so that they are reported. */
export function storedSessions(disk: Disk): readonly SessionId[] {
  return [...manifestSizes(disk).keys()];
}

/** Sessions with the length of each manifest, if it can be read. */
export type ManifestSizes = ReadonlyMap<SessionId, number | undefined>;

/** Every session, oldest first, by one listing of each folder. */
export function manifestSizes(disk: Disk): ManifestSizes {
  const sizes = new Map<SessionId, number | undefined>();
  for (const sessionId of sessionFolders(disk)) {
    const place = layout.manifest(sessionId);
    accessingNow('list sessions', place, () => {
      const size = disk.fs.size(join(disk.root, place));
      return { size, isStored: size !== undefined || hasSegments(disk, sessionId) };
    }).match(
      ({ size, isStored }) => isStored && sizes.set(sessionId, size),
      () => sizes.set(sessionId, undefined),
    );
  }
  return sizes;
}

/** The same, including folders of sessions whose first append failed. Other names are not ours. */
export function sessionFolders(disk: Disk): readonly SessionId[] {
  return disk.fs.list(join(disk.root, layout.sessions)).filter(SessionId.is);
}

/** Segments that only a lost manifest can have named. */
function hasSegments({ fs, root }: Disk, sessionId: SessionId): boolean {
  return isCutShort({ nextEventIndex: 0 }, fs.list(join(root, layout.events(sessionId))));
}
