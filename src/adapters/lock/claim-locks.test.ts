import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type Claim, ownClaim } from './claim.ts';
import { claimLocks } from './claim-locks.ts';

const dead = { ...ownClaim(), pid: 2 ** 22 + 1 };
const reused = { ...ownClaim(), startedAt: '1' };
const foreign = { ...ownClaim(), host: 'elsewhere', pid: 7 };

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'workrail-claims-'));
  path = join(dir, '.lock');
  mkdirSync(`${path}.claims`);
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

it('a claim lock is taken over at once from dead holders, whose claims are removed', async () => {
  forge('killed', dead);
  forge('number used again', reused);
  writeFileSync(join(`${path}.claims`, 'torn'), '{"host":"he');
  writeFileSync(`${path}.holder`, JSON.stringify(dead));
  const attempt = await claimLocks.tryExclusive([path]);
  expect(attempt.kind).toBe('held');
  expect(laid()).toHaveLength(1);
  if (attempt.kind === 'held') attempt.lock.release();
  expect(laid()).toEqual([]);
});

it('a claim lock stays with a holder that cannot be checked, and says what to do if it is gone', async () => {
  enforces('lock_never_stolen_from_live');
  forge('far', foreign);
  const expected = {
    kind: 'busy',
    holder: `process 7 on elsewhere (if that process is gone, delete ${join(`${path}.claims`, 'far')})`,
  };
  expect(await claimLocks.tryExclusive([path])).toEqual(expected);
  expect(laid()).toEqual(['far']);
});

it('a claim lock stays with a native holder that cannot be checked', async () => {
  writeFileSync(`${path}.holder`, JSON.stringify(foreign));
  const holder = `process 7 on elsewhere (if that process is gone, delete ${path}.holder)`;
  expect(await claimLocks.tryExclusive([path])).toEqual({ kind: 'busy', holder });
  expect(await claimLocks.tryShared(path)).toEqual({ kind: 'busy', holder });
  expect(laid()).toEqual([]);
});

it('an unreadable claim does not grant the lock', async () => {
  enforces('lock_never_stolen_from_live');
  mkdirSync(join(`${path}.claims`, 'unreadable'));
  await expect(claimLocks.tryExclusive([path])).rejects.toMatchObject({ code: 'EISDIR' });
  expect(laid()).toEqual(['unreadable']);
});

it('a holder notices that its claim was deleted', async () => {
  const attempt = await claimLocks.tryExclusive([path]);
  rmSync(`${path}.claims`, { recursive: true });
  expect(attempt.kind === 'held' && attempt.lock.isHeld()).toBe(false);
});

function forge(name: string, claim: Claim): void {
  writeFileSync(join(`${path}.claims`, name), JSON.stringify(claim));
}

function laid(): readonly string[] {
  return readdirSync(`${path}.claims`);
}
