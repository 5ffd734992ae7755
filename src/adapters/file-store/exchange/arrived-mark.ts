import { join } from 'node:path';
import type { SessionId } from '../../../core/log/ids.ts';
import type { Disk } from '../disk/disk.ts';
import { ARRIVED, layout } from '../disk/layout.ts';

/** Notes in a session's folder, wherever that is, that it comes from elsewhere now. Its events may be of any age. */
export async function markArrived({ fs, root }: Disk, folder: string): Promise<void> {
  const path = join(root, folder, ARRIVED);
  const file = await fs.openEnd(path);
  await file.close();
  await fs.touch(path);
  await fs.syncDir(join(root, folder));
}

/** When a session was imported or brought back last; nothing for one that always was here. */
export function arrivedMs({ fs, root }: Disk, sessionId: SessionId): number | undefined {
  return fs.modifiedMs(join(root, layout.session(sessionId), ARRIVED));
}
