import { expect, it } from 'vitest';
import { ago, clockTime, duration } from './times.ts';

const NOON = new Date(2026, 10, 15, 12, 0, 0).getTime();
const MINUTE_MS = 60_000;

it('ago() says how long ago something was in minutes, hours or days', () => {
  const before = (minutes: number) => ago(NOON - minutes * MINUTE_MS, NOON);
  expect([-5, 0, 1, 59, 60, 24 * 60 - 1, 24 * 60, 59 * 24 * 60].map(before)).toEqual([
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
    '1 h ago',
    '23 h ago',
    '1 d ago',
    '59 d ago',
  ]);
  expect(before(100 * 24 * 60)).toBe('2026-08-07');
});

it('clockTime() shows the time of day, with the date unless it is today', () => {
  expect(clockTime(NOON - 65 * MINUTE_MS, NOON)).toBe('10:55');
  expect(clockTime(NOON - 13 * 60 * MINUTE_MS, NOON)).toBe('2026-11-14 23:00');
});

it('duration() shows how long something took', () => {
  expect([0, 42_400, 70_000, 3_723_000, 90_000_000].map(duration)).toEqual([
    '0:00',
    '0:42',
    '1:10',
    '1:02:03',
    '1 d 1 h',
  ]);
});
