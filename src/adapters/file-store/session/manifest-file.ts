import { dirname, join } from 'node:path';
import type { Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { accessing, type Disk, putFile } from '../disk/disk.ts';
import type { WritableFile } from '../disk/file-system.ts';
import { layout } from '../disk/layout.ts';
import type { OpenSession } from './open-session.ts';

/** Writes the lines of one append at once and flushes them: from here on they are true. */
export async function appendToManifest(
  disk: Disk,
  session: OpenSession,
  lines: Uint8Array,
): Promise<Result<void, StoreFailure>> {
  const place = layout.manifest(session.sessionId);
  const path = join(disk.root, place);
  const { offset } = session.position;
  const written = await accessing('write manifest', place, async () => {
    const size = disk.fs.size(path);
    if (size !== undefined && size > offset) await cutTornTail(disk, session);
    await writing(disk, path, (manifest) => manifest.write(lines));
    if (size === undefined) await disk.fs.syncDir(dirname(path));
  });
  // Nobody was told that these lines are true. What a failed flush left of them must not be built upon.
  if (written.isErr()) await accessing('take back', place, () => takeBack(disk, path, offset));
  return written;
}

/** Cuts away an append that was never acknowledged. Its bytes are kept beside the manifest. */
async function cutTornTail(disk: Disk, { sessionId, position }: OpenSession): Promise<void> {
  const place = layout.manifest(sessionId);
  const path = join(disk.root, place);
  const torn = disk.fs.read(path, position.offset) ?? new Uint8Array();
  await putFile(disk, `${place}.torn-${position.offset}`, torn);
  await writing(disk, path, (manifest) => manifest.truncate(position.offset));
}

async function takeBack(disk: Disk, path: string, offset: number): Promise<void> {
  const size = disk.fs.size(path);
  if (size !== undefined && size > offset) await writing(disk, path, (manifest) => manifest.truncate(offset));
}

async function writing(disk: Disk, path: string, change: (file: WritableFile) => Promise<void>): Promise<void> {
  const manifest = await disk.fs.openEnd(path);
  try {
    await change(manifest);
    await manifest.sync();
  } finally {
    await manifest.close();
  }
}
