import { join, sep } from 'node:path';
import { SessionId } from '../../../core/log/ids.ts';
import { errorCode } from '../../guarded-file.ts';
import { type Disk, layout } from '../disk/disk.ts';
import { isCutShort } from './lines.ts';

/** Every session, oldest first. Unreadable ones are included, so that they are reported. */
export function storedSessions(disk: Disk): readonly SessionId[] {
  return sessionIdsOnDisk(disk).filter((sessionId) => storedSize(disk, sessionId) !== undefined);
}

const UNKNOWN = -1;

/** The length of a session's manifest, -1 if that is unknown; `undefined` if there is no such session. */
export function storedSize(disk: Disk, sessionId: SessionId): number | undefined {
  // There are thousands of these, so the path is put together without looking at its parts.
  const place = `${disk.root}${sep}${layout.sessions}${sep}${sessionId}${sep}manifest.jsonl`;
  try {
    return disk.fs.size(place) ?? (hasSegments(disk, sessionId) ? UNKNOWN : undefined);
  } catch (cause) {
    if (errorCode(cause) === undefined) throw cause;
    return UNKNOWN;
  }
}

/** All folders of sessions, also of those whose first append failed. Other names are not ours. */
export function sessionIdsOnDisk(disk: Disk): readonly SessionId[] {
  return disk.fs.list(join(disk.root, layout.sessions)).filter(SessionId.is);
}

/** Segments that only a lost manifest can have named. */
function hasSegments({ fs, root }: Disk, sessionId: SessionId): boolean {
  return isCutShort({ nextEventIndex: 0 }, fs.list(join(root, layout.events(sessionId))));
}
