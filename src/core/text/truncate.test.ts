import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { TRUNCATION_MARKER, truncate } from './utf8.ts';

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 60 }));
const budget = fc.integer({ min: 13, max: 120 });

test('a text within its budget is not truncated', () => {
  fc.assert(
    fc.property(text, (sample) => {
      expect(truncate(sample, Math.max(13, bytesOf(sample)))).toBe(sample);
    }),
  );
});

test('a text over its budget keeps the longest start that leaves room for the marker, and ends in it', () => {
  enforces('truncation_marker_exact', 'truncation_keeps_start_and_reserves_marker');
  const long = fc.tuple(text, budget).filter(([sample, bytesMax]) => bytesOf(sample) > bytesMax);
  fc.assert(
    fc.property(long, ([sample, bytesMax]) => {
      const cut = truncate(sample, bytesMax);
      expect(cut.endsWith('\n\n[TRUNCATED]')).toBe(true);
      const kept = cut.slice(0, -13);
      expect(sample.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      expect(bytesOf(cut)).toBeLessThanOrEqual(bytesMax);
      const next = String.fromCodePoint(sample.codePointAt(kept.length) ?? 0);
      expect(bytesOf(cut) + bytesOf(next)).toBeGreaterThan(bytesMax);
    }),
    { numRuns: 2_000 },
  );
});

test('the marker is two newlines and [TRUNCATED]', () => {
  enforces('truncation_marker_exact');
  expect(TRUNCATION_MARKER).toBe('\n\n[TRUNCATED]');
  expect(truncate('0123456789abcdef', 15)).toBe('01\n\n[TRUNCATED]');
  expect(truncate('€uro sign and more', 15)).toBe('\n\n[TRUNCATED]');
});

test('the same text and budget give the same cut, and a cut text is not cut again', () => {
  enforces('truncation_deterministic');
  fc.assert(
    fc.property(text, budget, (sample, bytesMax) => {
      const cut = truncate(sample, bytesMax);
      expect(truncate(`${sample.slice(0, 5)}${sample.slice(5)}`, bytesMax)).toBe(cut);
      expect(truncate(cut, bytesMax)).toBe(cut);
    }),
  );
});

test('a budget smaller than the marker is a bug', () => {
  expect(() => truncate('text', 12)).toThrow('bug: a budget of 12 bytes has no room for the marker');
});
