import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type Claim, claimLocks, fromPs, isAlive, ownClaim, parseClaim, runningProcess } from './claim-locks.ts';

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

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

describe('a claim', () => {
  it('a claim is alive while its process runs', () => {
    expect(isAlive(ownClaim())).toBe(true);
  });

  it('a claim is alive while its process is suspended', async () => {
    enforces('lock_never_stolen_from_live');
    const child = start('exec sleep 60');
    child.kill('SIGSTOP');
    await untilStat(child.pid, ') T ');
    expect(isAlive(claimOf(child.pid))).toBe(true);
  });

  it('a claim is dead once its process was killed', async () => {
    const child = start('exec sleep 60');
    const claim = claimOf(child.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(claim)).toBe(false);
  });

  it('a claim is dead once its process was killed, even if the parent has not reaped it', async () => {
    const child = start('sleep 60 & echo $!; exec sleep 60');
    const [line] = await once(child.stdout as NodeJS.EventEmitter, 'data');
    const pid = Number(line);
    const claim = claimOf(pid);
    await untilStat(child.pid, '(sleep)');
    expect(isAlive(claim)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await untilStat(pid, ') Z ');
    expect(isAlive(claim)).toBe(false);
    expect(fromPs(pid)).toBeUndefined();
  });

  it.each([
    ['the number went to a process that started at another time', { startedAt: '1' }, false],
    ['the machine was started again since', { boot: 'another boot' }, false],
    ['it comes from another machine', { host: 'elsewhere', pid: 2 ** 22 + 1 }, true],
    ['it comes from another container', { pidSpace: 'pid:[1]', pid: 2 ** 22 + 1 }, true],
    ['nobody could tell when its process started', { startedAt: '' }, true],
    ['nobody could tell which start of the machine it was', { boot: '' }, true],
    ['no process has its number', { pid: 2 ** 22 + 1 }, false],
  ])('a claim is judged correctly when %s', (_, difference, expected) => {
    enforces('lock_never_stolen_from_live');
    expect(isAlive({ ...ownClaim(), ...difference })).toBe(expected);
  });

  it.each(['', '{"host":"here"', '{}', 'null', '\0\0\0\0'])('the text %j is not a claim', (text) => {
    expect(parseClaim(text)).toBeUndefined();
  });

  it('a claim reads back as it was written', () => {
    expect(parseClaim(JSON.stringify(ownClaim()))).toEqual(ownClaim());
  });
});

describe('where there is no /proc', () => {
  it('the start time of a process is the same in every time zone and language', () => {
    const before = fromPs(process.pid);
    const { TZ } = process.env;
    process.env['TZ'] = 'Asia/Tokyo';
    const after = fromPs(process.pid);
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
    expect(before?.startedAt).toMatch(/\d{4}$/);
    expect(after).toEqual(before);
  });
});

function start(script: string): ChildProcess {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

function claimOf(pid: number | undefined): Claim {
  if (pid === undefined) throw new Error('the process did not start');
  return { ...ownClaim(), pid, startedAt: runningProcess(pid)?.startedAt ?? '' };
}

async function untilStat(pid: number | undefined, part: string): Promise<void> {
  while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(part)) await new Promise(setImmediate);
}
