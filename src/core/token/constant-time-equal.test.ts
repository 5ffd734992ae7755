import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constantTimeEqual } from './constant-time-equal.ts';

test('bytes are equal to themselves and to nothing else, at every length', () => {
  for (let length = 0; length <= 64; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
    expect(constantTimeEqual(bytes, bytes.slice())).toBe(true);
    expect(constantTimeEqual(bytes, Uint8Array.of(...bytes, 0))).toBe(false);
    expect(constantTimeEqual(Uint8Array.of(...bytes, 0), bytes)).toBe(false);
    const flips = Array.from({ length: 8 * length }, (_, bit) => {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return flipped;
    });
    expect(flips.filter((flipped) => constantTimeEqual(bytes, flipped))).toEqual([]);
  }
});

test('the comparison agrees with comparing byte by byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4, max: 1 }), fc.uint8Array({ maxLength: 4, max: 1 }), (a, b) => {
      expect(constantTimeEqual(a, b)).toBe(a.join() === b.join());
    }),
  );
});

test('every byte is looked at, however early the difference', () => {
  const reads: number[] = [];
  const watched = new Proxy(new Uint8Array(32), {
    get: (target, key) => {
      if (key !== 'length') reads.push(Number(key));
      return Reflect.get(target, key, target);
    },
  });
  expect(constantTimeEqual(watched, new Uint8Array(32).fill(255))).toBe(false);
  expect(reads).toEqual(Array.from({ length: 32 }, (_, i) => i));
});
