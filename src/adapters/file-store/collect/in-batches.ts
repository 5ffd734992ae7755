import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { CollectCause } from '../../../app/ports/upkeep.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { patience, waitForExclusive } from '../../lock/wait-for-lock.ts';
import { accessing } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';

/** Whoever appends waits at most two seconds for the store, so nobody may have it alone for nearly as long. */
const BATCH_MS_MAX = 250;
/** Longer than an appender pauses between two tries, so that each gets its turn between two batches. */
const PAUSE_MS = 50;

/** What is to be done with nobody else writing. `prepare` is done at the start of every batch. */
export type BatchWork<Item> = {
  readonly items: readonly Item[];
  readonly prepare: () => Promise<Result<unknown, CollectCause>>;
  readonly each: (item: Item) => Promise<void>;
};

/** Goes through items with the store for itself, a short while at a time. */
export async function inBatches<Item>(
  parts: FileStoreParts,
  { items, prepare, each }: BatchWork<Item>,
): Promise<Result<void, CollectCause>> {
  const { nowMs, pause } = parts.waiting;
  const rest = [...items].reverse();
  while (rest.length > 0) {
    const lock = await lockStore(parts);
    if (lock.isErr()) return err(lock.error);
    try {
      const prepared = await prepare();
      if (prepared.isErr()) return err(prepared.error);
      const untilMs = nowMs() + BATCH_MS_MAX;
      for (let item = rest.pop(); item !== undefined; item = nowMs() < untilMs ? rest.pop() : undefined) {
        const current = item;
        const done = await accessing('collect', layout.sessions, () => each(current));
        if (done.isErr()) return err(done.error);
      }
    } finally {
      lock.value.release();
    }
    if (rest.length > 0) await pause(PAUSE_MS);
  }
  return ok(undefined);
}

async function lockStore(parts: FileStoreParts): Promise<Result<HeldLock, CollectCause>> {
  const attempt = await accessing('lock store', layout.storeLock, async () => {
    const locks = await parts.locks();
    const path = join(parts.disk.root, layout.storeLock);
    return waitForExclusive({ path, attempt: () => locks.tryExclusive([path]) }, patience(parts.waiting));
  });
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'busy') return err({ code: 'store_busy', holder: attempt.value.holder });
  return ok(attempt.value.lock);
}
