import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { accessingNow, type Disk, putFile } from '../disk/disk.ts';
import { damagedContent } from './parse-stored.ts';

/** The place of content and the hash that names it. */
type ContentName = { readonly path: string; readonly digest: string };

/**
 * Stores content under its hash. Identical content that exists stays, but is touched, because collection spares young
 * files. Another process may not have flushed the name yet, so it is flushed here too.
 */
export async function putContent(disk: Disk, { path, digest }: ContentName, bytes: Uint8Array): Promise<void> {
  assert(digestOf(bytes) === digest, `${path} is named by its content`);
  const target = join(disk.root, path);
  if (!isPresent(disk, target, bytes)) return putFile(disk, path, bytes);
  await disk.fs.touch(target);
  await disk.fs.syncDir(dirname(target));
}

/** Most content is new, so the file is opened only if its length matches. */
function isPresent({ fs }: Disk, target: string, bytes: Uint8Array): boolean {
  if (fs.size(target) !== bytes.length) return false;
  const present = fs.read(target);
  return present !== undefined && Buffer.compare(present, bytes) === 0;
}

/** Reads content and checks it against its digest. */
export function readContent(disk: Disk, path: string, digest: string): Result<Uint8Array, StoreFailure> {
  return accessingNow('read content', path, () => disk.fs.read(join(disk.root, path))).andThen((bytes) => {
    if (bytes === undefined) return err(damagedContent(path, 'content_missing'));
    return digestOf(bytes) === digest ? ok(bytes) : err(damagedContent(path, 'content_digest_mismatch'));
  });
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}
