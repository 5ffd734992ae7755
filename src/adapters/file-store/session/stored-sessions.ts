import { join } from 'node:path';
import { SessionId } from '../../../core/log/ids.ts';
import { accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { isCutShort } from './torn/is-cut-short.ts';

/** Every session, oldest first. What cannot be looked into is among them: somebody should hear of it. */
export function storedSessions(disk: Disk): readonly SessionId[] {
  return sessionFolders(disk).filter((sessionId) => {
    const place = layout.manifest(sessionId);
    return accessingNow('list sessions', place, () => hasHistory(disk, sessionId)).unwrapOr(true);
  });
}

/** The same with folders that hold no session, because its first append failed. Other names in there are not ours. */
export function sessionFolders(disk: Disk): readonly SessionId[] {
  return disk.fs.list(join(disk.root, layout.sessions)).flatMap((name) => SessionId.schema.safeParse(name).data ?? []);
}

/** A manifest, or segments that only a manifest now lost can have named. */
function hasHistory({ fs, root }: Disk, sessionId: SessionId): boolean {
  if (fs.size(join(root, layout.manifest(sessionId))) !== undefined) return true;
  return isCutShort({ nextEventIndex: 0 }, fs.list(join(root, layout.events(sessionId))));
}
