import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { accessingNow, type Disk, putFile } from '../disk/disk.ts';
import { damagedContent } from './parse-stored.ts';

/** Where content lies, and the hash that names it. */
type ContentName = { readonly path: string; readonly digest: string };

/**
 * Puts content under the name of its hash. What is there already and whole stays, but its time is made new, because collection
 * spares young files. Another process may have named it without having flushed the name yet, so we flush it too.
 */
export async function putContent(disk: Disk, { path, digest }: ContentName, bytes: Uint8Array): Promise<void> {
  assert(digestOf(bytes) === digest, `${path} is named by its content`);
  const target = join(disk.root, path);
  if (!isPresent(disk, target, bytes)) return putFile(disk, path, bytes);
  await disk.fs.touch(target);
  await disk.fs.syncDir(dirname(target));
}

/** Most of what is put is new, so nothing is opened before its length says that it may be there. */
function isPresent({ fs }: Disk, target: string, bytes: Uint8Array): boolean {
  if (fs.size(target) !== bytes.length) return false;
  const present = fs.read(target);
  return present !== undefined && Buffer.compare(present, bytes) === 0;
}

/** The content that a digest names, checked against it. */
export function readContent(disk: Disk, path: string, digest: string): Result<Uint8Array, StoreFailure> {
  return accessingNow('read content', path, () => disk.fs.read(join(disk.root, path))).andThen((bytes) => {
    if (bytes === undefined) return err(damagedContent(path, 'content_missing'));
    return digestOf(bytes) === digest ? ok(bytes) : err(damagedContent(path, 'content_digest_mismatch'));
  });
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}
