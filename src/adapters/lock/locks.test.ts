import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { claimLocks, describeClaim, ownClaim, parseClaim } from './claim-locks.ts';
import type { HeldLock, LockAttempt, Locks } from './locks.ts';
import { systemLocks } from './system-locks.ts';

const LOCKS: { readonly [name: string]: Locks } = { native: await systemLocks(), claims: claimLocks };
const PAIRS = Object.keys(LOCKS).flatMap((mine) => Object.keys(LOCKS).map((theirs) => [mine, theirs] as const));
const BUSY = { kind: 'busy', holder: describeClaim(ownClaim()) };

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'workrail-lock-'));
  path = join(dir, '.lock');
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

describe.each(PAIRS)('%s locks against %s locks', (mine, theirs) => {
  it('one holder at a time, named to others, and the next gets the lock on release', async () => {
    enforces('single_writer_per_session', 'optional_native_lock_has_fallback');
    const first = await hold(mine, path);
    expect(await of(theirs).tryExclusive([path])).toEqual(BUSY);
    expect(first.isHeld()).toBe(true);
    first.release();
    const second = await hold(theirs, path);
    expect(await of(mine).tryExclusive([path])).toEqual(BUSY);
    second.release();
    (await hold(mine, path)).release();
  });

  it('a lock whose files were deleted is never held by two', async () => {
    enforces('single_writer_per_session');
    const first = await hold(mine, path);
    rmSync(path, { force: true });
    rmSync(`${path}.claims`, { recursive: true, force: true });
    const second = await of(theirs).tryExclusive([path]);
    expect(first.isHeld() && isHeld(second)).toBe(false);
  });

  it('different locks are independent', async () => {
    const one = await hold(mine, path);
    const other = await hold(theirs, join(dir, 'other'));
    expect([one.isHeld(), other.isHeld()]).toEqual([true, true]);
  });

  it('a collector with native locks waits while anyone shares', async () => {
    enforces('store_lock_shared_with_gc');
    const sharers = [await of(mine).tryShared(path), await of(theirs).tryShared(path)];
    expect(sharers.map(isHeld)).toEqual([true, true]);
    for (const sharer of sharers) {
      expect((await of('native').tryExclusive([path])).kind).toBe('busy');
      release(sharer);
    }
    const collector = await hold('native', path);
    expect([await of(mine).tryShared(path), await of(theirs).tryShared(path)]).toEqual([BUSY, BUSY]);
    collector.release();
    expect(isHeld(await of(mine).tryShared(path))).toBe(true);
  });
});

it('native sharers respect an exclusive claim', async () => {
  const alone = await hold('claims', path);
  expect(await of('native').tryShared(path)).toEqual(BUSY);
  alone.release();
  expect(isHeld(await of('native').tryShared(path))).toBe(true);
});

it('shared claims exclude an exclusive one, and the other way round', async () => {
  const sharer = await of('claims').tryShared(path);
  expect(await of('claims').tryExclusive([path])).toEqual(BUSY);
  release(sharer);
  const alone = await hold('claims', path);
  expect(await of('claims').tryShared(path)).toEqual(BUSY);
  alone.release();
  expect(isHeld(await of('claims').tryShared(path))).toBe(true);
});

describe('native locks', () => {
  it('native locks still exclude others by the second file when the first one was deleted', async () => {
    const manifest = join(dir, 'manifest.jsonl');
    writeFileSync(manifest, 'untouched');
    const first = await of('native').tryExclusive([path, manifest]);
    rmSync(path);
    expect((await of('native').tryExclusive([path, manifest])).kind).toBe('busy');
    expect(isHeld(first)).toBe(false);
    release(first);
    expect(isHeld(await of('native').tryExclusive([path, manifest]))).toBe(true);
  });

  it('native locks hold nothing if only some of the files were free', async () => {
    const other = join(dir, 'other');
    const holder = await hold('native', other);
    expect((await of('native').tryExclusive([path, other])).kind).toBe('busy');
    expect(isHeld(await of('native').tryExclusive([path]))).toBe(true);
    holder.release();
  });

  it('native locks are free after release, even if a child process inherited the open file', async () => {
    const lock = await hold('native', path);
    const heir = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', openFileOf(path)] });
    lock.release();
    const next = await of('native').tryExclusive([path]);
    heir.kill('SIGKILL');
    expect(isHeld(next)).toBe(true);
  });

  it('native locks do not name a killed process as the holder', async () => {
    const lock = await hold('native', path);
    writeFileSync(`${path}.holder`, JSON.stringify({ ...ownClaim(), pid: 2 ** 22 + 1 }));
    expect(await of('native').tryExclusive([path])).toEqual({ kind: 'busy', holder: undefined });
    lock.release();
  });

  it("native locks keep the holder's name beside the locked file", async () => {
    const named = () => parseClaim(readFileSync(`${path}.holder`, 'utf8'));
    const lock = await hold('native', path);
    expect([readFileSync(path, 'utf8'), named()]).toEqual(['', ownClaim()]);
    lock.release();
    expect(named()).toBeUndefined();
  });

  it("native locks overwrite the previous holder's name completely", async () => {
    for (const left of ['x'.repeat(2_000), JSON.stringify({ ...ownClaim(), host: 'h'.repeat(255) }).padEnd(512), '-']) {
      writeFileSync(`${path}.holder`, left);
      const lock = await hold('native', path);
      expect(parseClaim(readFileSync(`${path}.holder`, 'utf8'))).toEqual(ownClaim());
      expect(await of('claims').tryExclusive([path])).toEqual(BUSY);
      lock.release();
      release(await of('claims').tryExclusive([path]));
    }
  });

  it("native locks are released even if the holder's name cannot be removed", async () => {
    const lock = await hold('native', path);
    rmSync(`${path}.holder`);
    mkdirSync(`${path}.holder`);
    expect(lock.release).not.toThrow();
    rmdirSync(`${path}.holder`);
    expect(isHeld(await of('native').tryExclusive([path]))).toBe(true);
  });

  it('native locks can be shared, claims cannot', () => {
    expect([of('native').hasSharedLocks, of('claims').hasSharedLocks]).toEqual([true, false]);
  });
});

function of(name: string): Locks {
  return LOCKS[name] as Locks;
}

async function hold(name: string, path: string): Promise<HeldLock> {
  const attempt = await of(name).tryExclusive([path]);
  if (attempt.kind === 'busy') throw new Error(`busy: ${attempt.holder}`);
  return attempt.lock;
}

function openFileOf(path: string): number {
  const files = readdirSync('/proc/self/fd').filter((file) => linkOf(`/proc/self/fd/${file}`) === path);
  return Number(files[0]);
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isHeld(attempt: LockAttempt): boolean {
  return attempt.kind === 'held' && attempt.lock.isHeld();
}

function release(attempt: LockAttempt): void {
  if (attempt.kind === 'held') attempt.lock.release();
}
