import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { claimLocks } from '../../../src/adapters/lock/claim-locks.ts';
import type { HeldLock, LockAttempt } from '../../../src/adapters/lock/locks.ts';
import { systemLocks } from '../../../src/adapters/lock/system-locks.ts';
import { patience, waitForExclusive, waitForShared } from '../../../src/adapters/lock/wait-for-lock.ts';

/** What a contender process is asked to do: go in and out under one lock, so many times. */
export type ContenderTask = {
  readonly dir: string;
  readonly locks: 'native' | 'claims';
  readonly rounds: number;
  /** Whether it lets others in that share the lock as well, as a writer that appends does with the store. */
  readonly shares: boolean;
};

const HELD_MS = 3;

const { dir, locks: kind, rounds, shares } = JSON.parse(process.argv[2] ?? '') as ContenderTask;
const locks = kind === 'claims' ? claimLocks : await systemLocks();
const waiting = { pause: (ms: number) => setTimeout(ms), nowMs: () => performance.now() };
const path = join(dir, '.lock');
const inside = join(dir, 'inside');

for (let round = 0; round < rounds; round++) await (shares ? share() : goInAlone());

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
