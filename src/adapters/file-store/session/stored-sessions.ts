import { join } from 'node:path';
import { SessionId } from '../../../core/log/ids.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';

/** Every session that has a folder, oldest first. Other names in there are not ours. */
export function storedSessions(disk: Disk): readonly SessionId[] {
  return disk.fs.list(join(disk.root, layout.sessions)).flatMap((name) => SessionId.schema.safeParse(name).data ?? []);
}
