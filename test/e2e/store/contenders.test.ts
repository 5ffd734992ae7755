import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import type { ContenderTask } from './contender.ts';
import { fastDir } from './fast-dir.ts';
import { bundleProgram } from './worker-process.ts';

const ROUNDS = isLong ? 1_000 : 60;
const TIMEOUT_MS = isLong ? 600_000 : 180_000;
/** Longer than a busy machine takes: how long two seconds are is not what is looked at here. */
const PATIENT_MS = isLong ? 300_000 : 60_000;

let program: string;
let dir: string;

beforeAll(async () => {
  program = await bundleProgram('contender', 'contenders');
});

beforeEach(() => {
  dir = fastDir('contenders');
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

it.each([
  { native: 8, claims: 0 },
  { native: 0, claims: 8 },
  { native: 4, claims: 4 },
])(
  'never two of $native processes with native locks and $claims with claims are inside at once',
  async ({ native, claims }) => {
    enforces('single_writer_per_session', 'optional_native_lock_has_fallback');
    const kinds = [...Array<'native'>(native).fill('native'), ...Array<'claims'>(claims).fill('claims')];
    const ends = await Promise.all(
      kinds.map((locks) => contend({ dir, locks, rounds: ROUNDS, lockWaitMs: PATIENT_MS })),
    );
    expect(ends).toEqual(kinds.map(() => ({ exitCode: 0, said: '' })));
    expect(claims === 0 || readdirSync(join(dir, '.lock.claims')).length === 0).toBe(true);
  },
  TIMEOUT_MS,
);

it(
  'an exclusive lock is granted although others share the lock without a break',
  async () => {
    enforces('store_lock_shared_with_gc', 'lock_wait_bounded');
    const given = { dir, locks: 'native', lockWaitMs: PATIENT_MS } as const;
    const sharesUntil = join(dir, 'enough');
    const sharing = Array.from({ length: 6 }, () => contend({ ...given, rounds: 0, sharesUntil }));
    // Those that share go on until these are done, so nobody gets the lock because the others have ended.
    const alone = await Promise.all([1, 2].map(() => contend({ ...given, rounds: 20 })));
    writeFileSync(sharesUntil, '');
    const ends = [...alone, ...(await Promise.all(sharing))];
    expect(ends).toEqual(ends.map(() => ({ exitCode: 0, said: '' })));
  },
  TIMEOUT_MS,
);

async function contend(task: ContenderTask): Promise<{ readonly exitCode: number; readonly said: string }> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [exitCode] = await once(child, 'close');
  return { exitCode, said };
}
