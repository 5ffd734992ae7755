import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BASE32_ALPHABET, fromBase32, toBase32 } from './binary-text.ts';

test('decoding base32 gives back the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(fromBase32(toBase32(bytes))).toEqual(bytes);
    }),
  );
});

test('base32 texts of the same length sort like their bytes', () => {
  const ten = fc.uint8Array({ minLength: 10, maxLength: 10 });
  fc.assert(
    fc.property(ten, ten, (a, b) => {
      expect(toBase32(a) < toBase32(b)).toBe(Buffer.compare(a, b) < 0);
    }),
  );
});

test('base32 uses the alphabet of Crockford in lower case', () => {
  expect(BASE32_ALPHABET).toBe('0123456789abcdefghjkmnpqrstvwxyz');
  expect(toBase32(Uint8Array.of(0xff, 0x00, 0xa5))).toBe('zw0aa');
});

test.each(['i', 'l', 'o', 'u', 'A', '-', 'é'])('the character %s is not base32', (character) => {
  expect(fromBase32(`00${character}0`)).toBeUndefined();
});
