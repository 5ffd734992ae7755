import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { err, type Result, type ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import type { LockAttempt, Locks, Waiting } from '../lock/locks.ts';
import { patience, waitForExclusive, waitForShared } from '../lock/wait-for-lock.ts';
import { accessing, type Disk, layout } from './disk/disk.ts';
import { nodeFileSystem } from './disk/node-file-system.ts';

/** What all parts of a file store share. */
export type FileStoreParts = {
  readonly disk: Disk;
  readonly sha256: Sha256;
  readonly locks: () => Promise<Locks>;
  readonly waiting: Waiting;
};

/** The parts of a store on this machine's disk. Locks are loaded on first use: reading needs none. */
export function fileStoreParts(root: string, sha256: Sha256): FileStoreParts {
  let locks: Promise<Locks> | undefined;
  return {
    disk: { fs: nodeFileSystem, root },
    sha256,
    locks: () => {
      locks ??= import('../lock/system-locks.ts').then(({ systemLocks }) => systemLocks());
      return locks;
    },
    waiting: { pause: (ms) => setTimeout(ms), nowMs: () => performance.now() },
  };
}

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
