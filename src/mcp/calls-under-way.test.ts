import { expect, it } from 'vitest';
import { callsUnderWay } from './calls-under-way.ts';

it('settled() waits for running calls, even if they fail', async () => {
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

it('settled() does not wait if no call is running', async () => {
  await expect(callsUnderWay().settled()).resolves.toBeUndefined();
});
