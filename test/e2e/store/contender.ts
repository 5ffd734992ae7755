import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { claimLocks } from '../../../src/adapters/lock/claim-locks.ts';
import type { HeldLock, LockAttempt } from '../../../src/adapters/lock/locks.ts';
import { systemLocks } from '../../../src/adapters/lock/system-locks.ts';
import { patience, waitForExclusive, waitForShared } from '../../../src/adapters/lock/wait-for-lock.ts';

/** What a contender process is asked to do: go in and out under one lock. */
export type ContenderTask = {
  readonly dir: string;
  readonly locks: 'native' | 'claims';
  /** How often, for a process that wants the lock for itself. */
  readonly rounds: number;
  /** A process that shares the lock, as a writer that appends does with the store, goes on until this file is there. */
  readonly sharesUntil?: string;
  /** How long it waits for the lock at most. */
  readonly lockWaitMs: number;
};

const HELD_MS = 3;

const STANDARD_LOCK_WAIT_MS = 2_000;

const { dir, locks: kind, rounds, sharesUntil, lockWaitMs } = JSON.parse(process.argv[2] ?? '') as ContenderTask;
const locks = kind === 'claims' ? claimLocks : await systemLocks();
// A slower clock makes for a longer wait.
const waiting = {
  pause: (ms: number) => setTimeout(ms),
  nowMs: () => (performance.now() * STANDARD_LOCK_WAIT_MS) / lockWaitMs,
};
const path = join(dir, '.lock');
const inside = join(dir, 'inside');

while (sharesUntil !== undefined && !existsSync(sharesUntil)) await share();
for (let round = 0; round < rounds; round++) await goInAlone();

async function goInAlone(): Promise<void> {
  const wish = { path, attempt: () => locks.tryExclusive([path]) };
  const lock = gained(await waitForExclusive(wish, patience(waiting)));
  // Fails when somebody else is inside.
  closeSync(openSync(inside, 'wx'));
  await new Promise(setImmediate);
  rmSync(inside);
  lock.release();
}

async function share(): Promise<void> {
  const lock = gained(await waitForShared({ path, attempt: () => locks.tryShared(path) }, patience(waiting)));
  if (existsSync(inside)) throw new Error('somebody is inside alone');
  await setTimeout(HELD_MS);
  lock.release();
}

function gained(attempt: LockAttempt): HeldLock {
  if (attempt.kind === 'busy') throw new Error(`waited in vain for ${attempt.holder}`);
  return attempt.lock;
}
