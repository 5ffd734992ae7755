import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { encodeUtf8, utf8Length, utf8Prefix } from './utf8.ts';

const encoder = new TextEncoder();
/** Any sequence of UTF-16 code units, lone surrogates included. */
const units = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })), { maxLength: 20 })
  .map((codes) => String.fromCharCode(...codes));
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), units);

test('every text has the length and the bytes that a text encoder gives it', () => {
  enforces('text_budgets_count_utf8_bytes');
  fc.assert(
    fc.property(text, (sample) => {
      const expected = encoder.encode(sample);
      expect(utf8Length(sample)).toBe(expected.length);
      expect(encodeUtf8(sample)).toEqual(expected);
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ['\u007f', 1],
  ['\u0080', 2],
  ['\u07ff', 2],
  ['\u0800', 3],
  ['\uffff', 3],
  ['\u{10000}', 4],
  ['\u{10ffff}', 4],
  ['\ud800', 3],
])('%j takes %i bytes', (sample, bytes) => {
  expect(utf8Length(sample)).toBe(bytes);
});

test('a prefix is the longest run of whole code points within the budget', () => {
  fc.assert(
    fc.property(text, fc.nat({ max: 60 }), (sample, bytesMax) => {
      const prefix = utf8Prefix(sample, bytesMax);
      const points = [...sample];
      const kept = [...prefix].length;
      expect(points.slice(0, kept).join('')).toBe(prefix);
      expect(encoder.encode(prefix).length).toBeLessThanOrEqual(bytesMax);
      if (kept < points.length) {
        expect(encoder.encode(points.slice(0, kept + 1).join('')).length).toBeGreaterThan(bytesMax);
      }
    }),
    { numRuns: 5_000 },
  );
});
