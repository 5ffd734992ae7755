import { join } from 'node:path';
import { err, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { waitForLock } from '../../lock/locks.ts';
import { accessing } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';

/** Keeps collection away from the first content that is put until the manifest names it. */
export async function sharingStore<Value>(
  parts: FileStoreParts,
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  const place = layout.storeLock;
  const attempt = await accessing('share store', place, async () => {
    const locks = await parts.locks();
    return waitForLock(() => locks.tryShared(join(parts.disk.root, place)), parts.waiting);
  });
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'busy') {
    return err({ code: 'io_failed', operation: 'share store', place, cause: 'collection_running' });
  }
  try {
    return await work();
  } finally {
    attempt.value.lock.release();
  }
}
