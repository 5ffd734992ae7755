import fc from 'fast-check';
import { expect, it } from 'vitest';
import { editDistance } from './edit-distance.ts';

it('counts inserted, missing, changed and swapped characters', () => {
  expect(editDistance('verify', 'verify')).toBe(0);
  expect(editDistance('verify', 'verfy')).toBe(1);
  expect(editDistance('verify', 'vverify')).toBe(1);
  expect(editDistance('verify', 'verafy')).toBe(1);
  expect(editDistance('verify', 'vreify')).toBe(1);
  expect(editDistance('verify', '')).toBe(6);
  expect(editDistance('kitten', 'sitting')).toBe(3);
});

it('is the same both ways, and nought only for equal texts', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  fc.assert(
    fc.property(short, short, (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});
