import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { claimLocks } from '../../../src/adapters/lock/claim-locks.ts';
import { waitForLock } from '../../../src/adapters/lock/locks.ts';
import { systemLocks } from '../../../src/adapters/lock/system-locks.ts';

/** What a contender process is asked to do: go in and out under one lock, so many times. */
export type ContenderTask = {
  readonly dir: string;
  readonly locks: 'native' | 'claims';
  readonly rounds: number;
};

const { dir, locks: kind, rounds } = JSON.parse(process.argv[2] ?? '') as ContenderTask;
const locks = kind === 'claims' ? claimLocks : await systemLocks();
const waiting = { pause: (ms: number) => setTimeout(ms), nowMs: () => performance.now() };
const inside = join(dir, 'inside');

for (let round = 0; round < rounds; ) {
  const attempt = await waitForLock(() => locks.tryExclusive([join(dir, '.lock')]), waiting);
  if (attempt.kind === 'busy') continue;
  // Fails when somebody else is inside.
  closeSync(openSync(inside, 'wx'));
  await new Promise(setImmediate);
  rmSync(inside);
  attempt.lock.release();
  round++;
}
