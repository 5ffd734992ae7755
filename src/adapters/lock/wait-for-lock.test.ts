import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test, vi } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { LockAttempt } from './locks.ts';
import { boundedTurnTaking, patience, waitForExclusive, waitForShared, wantedMark } from './wait-for-lock.ts';

const busy: LockAttempt = { kind: 'busy', holder: 'process 7 on here' };
const held: LockAttempt = { kind: 'held', lock: { isHeld: () => true, release: () => undefined } };

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'workrail-wait-'));
  path = join(dir, '.lock');
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

it.each([waitForExclusive, waitForShared])(
  'waiting for a lock ends after two seconds with the name of the holder (%o)',
  async (wait) => {
    enforces('lock_wait_bounded');
    const clock = fakeClock();
    let lastTriedAt = 0;
    const attempt = async () => {
      lastTriedAt = clock.nowMs();
      return busy;
    };
    expect(await wait({ path, attempt }, patience(clock))).toEqual(busy);
    expect([lastTriedAt, clock.nowMs()]).toEqual([2_000, 2_000]);
  },
);

it('waiting for a lock counts earlier waits', async () => {
  enforces('lock_wait_bounded');
  const clock = fakeClock();
  const began = patience(clock);
  await clock.pause(1_500);
  await waitForExclusive({ path, attempt: async () => busy }, began);
  expect(clock.nowMs()).toBe(2_000);
});

it('waiting ends as soon as the lock is free', async () => {
  const clock = fakeClock();
  const attempt = async () => (clock.nowMs() < 100 ? busy : held);
  expect(await waitForExclusive({ path, attempt }, patience(clock))).toEqual(held);
  expect(clock.nowMs()).toBeLessThanOrEqual(108);
});

it('a waiter tries more often the longer it waits, and out of step with others', async () => {
  const triedAt = await Promise.all(
    [1, 2].map(async () => {
      const clock = fakeClock();
      const times: number[] = [];
      const attempt = async () => {
        times.push(clock.nowMs());
        return busy;
      };
      await waitForExclusive({ path, attempt }, patience(clock));
      return times;
    }),
  );
  for (const times of triedAt) {
    const early = times.filter((time) => time < 1_000).length;
    expect(times.length - early).toBeGreaterThan(1.5 * early);
  }
  expect(triedAt[0]).not.toEqual(triedAt[1]);
});

it('an earlier waiter goes first, and no mark stays behind', async () => {
  const clock = fakeClock();
  let newcomerTriedAt: number | undefined;
  const newcomer = async () => {
    newcomerTriedAt ??= clock.nowMs();
    return held;
  };
  let tries = 0;
  const waiter = async () => {
    tries += 1;
    if (tries === 2) await waitForExclusive({ path, attempt: newcomer }, patience(clock));
    return tries < 3 ? busy : held;
  };
  await waitForExclusive({ path, attempt: waiter }, { ...patience(clock), pause: async () => undefined });
  expect(newcomerTriedAt).toBe(8);
  await waitForExclusive({ path, attempt: async () => busy }, patience(clock));
  expect(readdirSync(dir)).toEqual([]);
});

it('the marks of other waiters stay, so that they go before new ones', async () => {
  const clock = fakeClock();
  let tries = 0;
  const first = async () => {
    tries += 1;
    if (tries === 2) wantedMark(path).set();
    return tries < 2 ? busy : held;
  };
  expect(await waitForExclusive({ path, attempt: first }, patience(clock))).toEqual(held);
  expect(wantedMark(path).isSet()).toBe(true);
  const waitedMs = clock.nowMs();
  await waitForExclusive({ path, attempt: async () => held }, patience(clock));
  expect(clock.nowMs() - waitedMs).toBeCloseTo(8);
});

it('no new sharer is admitted while an exclusive waiter waits', async () => {
  enforces('store_lock_shared_with_gc');
  const sharer = vi.fn(async () => held);
  let tries = 0;
  const collector = async () => {
    tries += 1;
    if (tries === 2) await waitForShared({ path, attempt: sharer }, patience(fakeClock()));
    return tries < 3 ? busy : held;
  };
  expect(await waitForExclusive({ path, attempt: collector }, patience(fakeClock()))).toEqual(held);
  expect(sharer).not.toHaveBeenCalled();
  expect(await waitForShared({ path, attempt: sharer }, patience(fakeClock()))).toEqual(held);
});

it('the mark of a killed waiter is ignored', async () => {
  const clock = fakeClock();
  writeFileSync(`${path}.wanted`, '1');
  utimesSync(`${path}.wanted`, new Date(0), new Date(0));
  expect(await waitForShared({ path, attempt: async () => held }, patience(clock))).toEqual(held);
  expect(await waitForExclusive({ path, attempt: async () => held }, patience(clock))).toEqual(held);
  expect(clock.nowMs()).toBe(0);
});

it('waiting works where no mark can be written', async () => {
  const nowhere = join(dir, 'gone', '.lock');
  expect(await waitForExclusive({ path: nowhere, attempt: async () => busy }, patience(fakeClock()))).toEqual(busy);
});

function fakeClock() {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    pause: async (ms: number) => {
      nowMs += ms;
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const late = () => 'late';

test('callers take turns, and a failure of one does not affect the next', async () => {
  const inTurn = boundedTurnTaking<string>();
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} begins`);
    await vi.advanceTimersByTimeAsync(10);
    steps.push(`${name} ends`);
    if (name === 'a') throw new Error('bug');
    return name;
  };
  const turns = ['a', 'b', 'c'].map((name) => inTurn('one', { work: work(name), late }));
  expect(await Promise.allSettled(turns)).toMatchObject([
    { status: 'rejected' },
    { status: 'fulfilled', value: 'b' },
    { status: 'fulfilled', value: 'c' },
  ]);
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('every waiting caller is refused after two seconds, and its work never runs', async () => {
  enforces('lock_wait_bounded');
  const inTurn = boundedTurnTaking<string>();
  let end: (value: string) => void = expect.fail;
  const holding = new Promise<string>((resolve) => {
    end = resolve;
  });
  const holder = inTurn('one', { work: () => holding, late });
  const work = vi.fn(async () => 'done');
  const waiters = Promise.all([1, 2, 3, 4, 5].map(() => inTurn('one', { work, late })));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await waiters).toEqual(['late', 'late', 'late', 'late', 'late']);
  expect(await inTurn('another', { work: async () => 'free', late })).toBe('free');
  end('held long');
  expect(await holder).toBe('held long');
  expect(work).not.toHaveBeenCalled();
  expect(await inTurn('one', { work, late })).toBe('done');
});

test('a second turn inside the first is refused instead of waiting for itself', async () => {
  const inTurn = boundedTurnTaking<string>();
  const work = async () => {
    const inner = inTurn('one', { work: async () => 'inside', late });
    await vi.advanceTimersByTimeAsync(2_000);
    return inner;
  };
  expect(await inTurn('one', { work, late })).toBe('late');
});
