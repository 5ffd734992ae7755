import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { boundedTurnTaking } from './turn-taking.ts';

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
