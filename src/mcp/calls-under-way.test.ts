import { expect, it } from 'vitest';
import { callsUnderWay } from './calls-under-way.ts';

it('waits for what was begun, be it that it fails', async () => {
  const calls = callsUnderWay();
  const ended: string[] = [];
  const working = (name: string) =>
    calls.during(() => new Promise((resolve) => setTimeout(resolve, 10)).then(() => ended.push(name)));
  void working('one');
  void working('two')
    .then(() => Promise.reject(new Error('three')))
    .catch(() => ended.push('three'));
  void calls.during(() => Promise.reject(new Error('four'))).catch(() => undefined);
  await calls.settled();
  expect(ended).toEqual(['one', 'two', 'three']);
});

it('does not wait where nothing is under way', async () => {
  await expect(callsUnderWay().settled()).resolves.toBeUndefined();
});
