import { expect, test } from 'vitest';
import type { Clock } from '../../src/app/ports/system-services.ts';

/** A session id has 48 bits for the time. */
const TIME_MAX = 2 ** 48 - 1;

export function clockContract(makeClock: () => Clock): void {
  test('a time is a whole number of milliseconds in the stored range', () => {
    const { nowMs } = makeClock();
    for (const time of Array.from({ length: 50 }, nowMs)) {
      expect(Number.isInteger(time)).toBe(true);
      expect(time).toBeGreaterThanOrEqual(0);
      expect(time).toBeLessThanOrEqual(TIME_MAX);
    }
  });
}
