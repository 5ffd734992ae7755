import fc from 'fast-check';
import { expect, it } from 'vitest';
import { utcMinute } from './utc-time.ts';

it('a moment is written as everybody else writes it', () => {
  expect(utcMinute(0)).toBe('1970-01-01 00:00 UTC');
  expect(utcMinute(Date.UTC(2024, 1, 29, 23, 59, 59, 999))).toBe('2024-02-29 23:59 UTC');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (ms) => {
      expect(utcMinute(ms)).toBe(`${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`);
    }),
  );
});
