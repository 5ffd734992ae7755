import { join } from 'node:path';
import { err, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { patience, waitForShared } from '../../lock/wait-for-lock.ts';
import { accessing } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store-parts.ts';

/** Keeps collection away from the first stored content until the manifest names it. */
export async function sharingStore<Value>(
  parts: FileStoreParts,
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  const place = layout.storeLock;
  const attempt = await accessing('share store', place, async () => {
    const locks = await parts.locks();
    const path = join(parts.disk.root, place);
    return waitForShared({ path, attempt: () => locks.tryShared(path) }, patience(parts.waiting));
  });
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'busy') {
    return err({ code: 'busy', running: 'collection', holder: attempt.value.holder });
  }
  try {
    return await work();
  } finally {
    attempt.value.lock.release();
  }
}
