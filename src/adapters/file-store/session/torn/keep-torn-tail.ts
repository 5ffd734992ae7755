import { join } from 'node:path';
import { type Disk, putFile } from '../../disk/disk.ts';

/** Keeps what stands in a manifest behind an offset beside it, before it is cut away: nothing is thrown away unseen. */
export async function keepTornTail(disk: Disk, manifest: string, offset: number): Promise<void> {
  const torn = disk.fs.read(join(disk.root, manifest), offset) ?? new Uint8Array();
  // The place may have been torn before, when an append behind an earlier cut was cut off too.
  for (let times = 0; ; times++) {
    const place = `${manifest}.torn-${offset}${times === 0 ? '' : `-${times}`}`;
    const kept = disk.fs.read(join(disk.root, place));
    if (kept === undefined || Buffer.compare(kept, torn) === 0) return putFile(disk, place, torn);
  }
}
