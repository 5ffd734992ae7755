import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64Url, toBase64Url } from '../text/binary-text.ts';

test('bytes are written as Node writes them and come back unchanged', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = toBase64Url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64url'));
      expect(fromBase64Url(text)).toEqual(bytes);
    }),
  );
});

test.each([
  ['padding', 'AA=='],
  ['the other base64 alphabet', '+/+/'],
  ['a length no bytes have', 'AAAAA'],
  ['unused bits that are set', 'AB'],
  ['white space', 'AA AA'],
])('%s is refused', (_, text) => {
  expect(fromBase64Url(text)).toBeUndefined();
});
