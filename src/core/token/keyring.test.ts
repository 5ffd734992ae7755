import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { countingKey, hmac, keys, node, purpose } from '../../../test/golden/token/token-fixture.ts';
import {
  activeKeys,
  constantTimeEqual,
  type HmacSha256,
  type Keyring,
  keyringDocument,
  parseKeyring,
  rotate,
  signingKey,
} from './keyring.ts';
import { mintToken, parseToken } from './node-token.ts';

const first = countingKey(0);
const second = countingKey(1);
const third = countingKey(2);
const forms = ['compact', 'json'] as const;

test('a signing key has 32 bytes, in memory and in the file', () => {
  enforces('token_key_32_random_bytes');
  for (const length of [0, 16, 31, 33, 64]) {
    const bytes = new Uint8Array(length);
    expect(() => signingKey(bytes)).toThrow('a signing key has 32 bytes');
    const current = { alg: 'hmac_sha256', keyBase64Url: Buffer.from(bytes).toString('base64url') };
    expect(parseKeyring({ v: 1, current, previous: null })._unsafeUnwrapErr()).toMatchObject({
      code: 'wrong_shape',
      path: '/current/keyBase64Url',
    });
  }
  expect(signingKey(new Uint8Array(32))).toEqual(new Uint8Array(32));
});

test.each(forms)('the current key signs a %s token, and is tried before the previous one', (form) => {
  enforces('keyring_current_and_previous');
  const tried: Uint8Array[] = [];
  const watched: HmacSha256 = (key, message) => {
    tried.push(key);
    return hmac(key, message);
  };
  const keyring: Keyring = { current: second, previous: first };
  const byPrevious = mintToken(node, { kind: 'state' }, { keyring: { current: first }, hmac, form });
  expect(parseToken(byPrevious, 'stateToken', { keyring, hmac: watched }).isOk()).toBe(true);
  expect(tried).toEqual([second, first]);

  tried.length = 0;
  const byCurrent = mintToken(node, { kind: 'state' }, { keyring, hmac: watched, form });
  expect(parseToken(byCurrent, 'stateToken', { keyring, hmac: watched }).isOk()).toBe(true);
  expect(tried).toEqual([second, second]);
});

test('a third key has no place in the keyring', () => {
  enforces('keyring_current_and_previous');
  expect(activeKeys(rotate(rotate({ current: first }, second), third))).toEqual([third, second]);
  const document = {
    ...keyringDocument({ current: second, previous: first }),
    older: keyringDocument(keys.keyring).current,
  };
  expect(parseKeyring(document)._unsafeUnwrapErr()).toMatchObject({ code: 'wrong_shape' });
});

test.each(forms)('a %s token outlives one rotation, and not the next', (form) => {
  enforces('key_rotation_explicit');
  const before: Keyring = { current: first };
  const token = mintToken(node, purpose('ack'), { keyring: before, hmac, form });
  const once = rotate(before, second);
  const twice = rotate(once, third);
  expect(once).toEqual({ current: second, previous: first });
  expect(twice).toEqual({ current: third, previous: second });
  expect(before).toEqual({ current: first });

  const claims = parseToken(token, 'ackToken', { keyring: before, hmac });
  expect(claims.isOk()).toBe(true);
  expect(parseToken(token, 'ackToken', { keyring: once, hmac })).toEqual(claims);
  expect(parseToken(token, 'ackToken', { keyring: twice, hmac })).toEqual(
    err({ code: 'TOKEN_BAD_SIGNATURE', kind: 'ack', keysTried: 2 }),
  );
  expect(mintToken(node, purpose('ack'), { keyring: once, hmac, form })).not.toBe(token);
});

test('rotating to a key that is already active is a bug', () => {
  expect(() => rotate({ current: first }, countingKey(0))).toThrow('a fresh key');
  expect(() => rotate({ current: second, previous: first }, countingKey(0))).toThrow('a fresh key');
});

test('a stored keyring comes back as it was, with and without a previous key', () => {
  for (const keyring of [{ current: first }, { current: second, previous: first }]) {
    expect(parseKeyring(JSON.parse(JSON.stringify(keyringDocument(keyring))))).toEqual(ok(keyring));
  }
});

test('a keyring of another version is not mistaken for a damaged one', () => {
  const document = keyringDocument(keys.keyring);
  expect(parseKeyring({ ...document, v: 2 })).toEqual(err({ code: 'unknown_version', version: 2 }));
  for (const damaged of [
    null,
    [],
    { ...document, current: null },
    { ...document, previous: undefined },
    { ...document, current: { ...document.current, alg: 'hmac_sha512' } },
    { ...document, current: { ...document.current, keyBase64Url: `${'A'.repeat(42)}B` } },
  ]) {
    expect(parseKeyring(damaged)._unsafeUnwrapErr().code).toMatch(/^(wrong_shape|unknown_version)$/);
    expect(JSON.stringify(parseKeyring(damaged))).not.toContain(document.current.keyBase64Url);
  }
});

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
