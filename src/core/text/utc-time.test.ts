import { expect, it } from 'vitest';
import { isoTime, shownSecond, utcMinute } from './utc-time.ts';

it('a moment is shown in UTC, whole or to the minute or second', () => {
  const ms = Date.UTC(2024, 1, 29, 23, 59, 59, 999);
  expect([isoTime(ms), utcMinute(ms), shownSecond(isoTime(ms))]).toEqual([
    '2024-02-29T23:59:59.999Z',
    '2024-02-29 23:59 UTC',
    '2024-02-29 23:59:59',
  ]);
});

it('a time that no date can hold is shown as the last one', () => {
  expect(utcMinute(Number.MAX_SAFE_INTEGER)).toBe('+275760-09-13 00:00 UTC');
});
