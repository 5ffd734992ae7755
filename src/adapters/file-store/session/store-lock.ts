import { join } from 'node:path';
import { err, type Result, type ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { LockAttempt } from '../../lock/locks.ts';
import { patience, waitForExclusive, waitForShared } from '../../lock/wait-for-lock.ts';
import { accessing, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';

/** Waits for the exclusive lock on one file. */
export function lockFile(
  { disk, locks, waiting }: FileStoreParts,
  operation: string,
  place: string,
): ResultAsync<LockAttempt, StoreFailure> {
  return accessing(operation, place, async () => {
    const { tryExclusive } = await locks();
    const path = join(disk.root, place);
    return waitForExclusive({ path, attempt: () => tryExclusive([path]) }, patience(waiting));
  });
}

/** Keeps collection away from the first stored content until the manifest names it. */
export async function sharingStore<Value>(
  { disk, locks, waiting }: FileStoreParts,
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  const attempt = await accessing('share store', layout.storeLock, async () => {
    const { tryShared } = await locks();
    const path = join(disk.root, layout.storeLock);
    return waitForShared({ path, attempt: () => tryShared(path) }, patience(waiting));
  });
  return whileHeld(attempt, 'collection', work);
}

/** Works while a lock is held, and releases it. `running` is what may hold it for longer. */
export async function whileHeld<Value>(
  attempt: Result<LockAttempt, StoreFailure>,
  running: 'collection' | 'key_rotation',
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'busy') return err({ code: 'busy', running, holder: attempt.value.holder });
  try {
    return await work();
  } finally {
    attempt.value.lock.release();
  }
}
