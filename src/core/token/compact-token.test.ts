import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { countingKey, golden, hmac, keys, node, otherNode } from '../../../test/golden/token/token-fixture.ts';
import { attemptIdSchema, eventIndexSchema, SessionId } from '../log/ids.ts';
import { BASE32_ALPHABET } from '../text/binary-text.ts';
import { encodeCompactToken, parseCompactToken } from './node-token.ts';
import { type CompactTokenClaims, FIRST_ATTEMPT, TOKEN_KINDS } from './token.ts';

const claims: CompactTokenClaims = {
  form: 'compact',
  kind: 'ack',
  tag: 'mpjt',
  sessionId: node.sessionId,
  nodeEventIndex: node.eventIndex,
  attemptId: attemptIdSchema.parse(1),
};
const token = encodeCompactToken(claims, keys);

const anyClaims: fc.Arbitrary<CompactTokenClaims> = fc
  .record({
    kind: fc.constantFrom(...TOKEN_KINDS),
    tag: fc.string({ unit: fc.constantFrom(...BASE32_ALPHABET), minLength: 4, maxLength: 4 }),
    bits: fc.uint8Array({ minLength: 10, maxLength: 10 }),
    index: fc.integer({ min: 0, max: 0xffff_ffff }),
    attempt: fc.integer({ min: 0, max: 0xffff }),
  })
  .map(({ kind, tag, bits, index, attempt }) => ({
    form: 'compact',
    kind,
    tag,
    sessionId: SessionId.of(bits),
    nodeEventIndex: eventIndexSchema.parse(index),
    attemptId: kind === 'state' ? FIRST_ATTEMPT : attemptIdSchema.parse(attempt),
  }));

/** The 220 bits of a body as one number, read without the code under test. */
function bodyBits(text: string): bigint {
  return [...text.slice(-44)].reduce((bits, digit) => bits * 32n + BigInt(BASE32_ALPHABET.indexOf(digit)), 0n);
}

/** A body for payload fields of our choice, signed with the right key. */
function signed(head: string, fields: { first: number; attempt: number }): string {
  const payload = Buffer.concat([Buffer.of(fields.first), Buffer.alloc(14, 7), Buffer.alloc(2)]);
  payload.writeUInt16BE(fields.attempt, 15);
  const mac = createHmac('sha256', countingKey(0)).update(head).update(payload).digest('hex').slice(0, 21);
  let bits = BigInt(`0x${payload.toString('hex')}${mac}`);
  let body = '';
  for (let i = 0; i < 44; i++) {
    body = BASE32_ALPHABET.charAt(Number(bits & 31n)) + body;
    bits >>= 5n;
  }
  return head + body;
}

test('the body holds version, kind, session, event index, attempt and MAC, to the bit', () => {
  enforces('token_v2_layout');
  fc.assert(
    fc.property(anyClaims, (some) => {
      const bits = bodyBits(encodeCompactToken(some, keys)).toString(2).padStart(220, '0');
      const field = (from: number, length: number) => Number.parseInt(bits.slice(from, from + length), 2);
      const session = [...some.sessionId.slice('sess_'.length)].map((digit) => BASE32_ALPHABET.indexOf(digit));
      expect(field(0, 4)).toBe(2);
      expect(field(4, 4)).toBe({ state: 0, ack: 1, checkpoint: 2 }[some.kind]);
      expect(session.map((_, i) => field(8 + 5 * i, 5))).toEqual(session);
      expect(field(88, 32)).toBe(some.nodeEventIndex);
      expect(field(120, 16)).toBe(some.attemptId);
      expect(bits.length - 136).toBe(84);
    }),
  );
});

test('a token has at most 56 characters, and its MAC of 84 bits covers prefix and run tag', () => {
  enforces('token_v2_size_and_mac');
  fc.assert(
    fc.property(anyClaims, (some) => {
      const text = encodeCompactToken(some, keys);
      expect(text.length).toBe(some.kind === 'state' ? 51 : 52);
      expect(text.length).toBeLessThanOrEqual(56);
      const bits = bodyBits(text);
      const payload = Buffer.from((bits >> 84n).toString(16).padStart(34, '0'), 'hex');
      const mac = createHmac('sha256', countingKey(0)).update(text.slice(0, -44)).update(payload).digest('hex');
      expect((bits & ((1n << 84n) - 1n)).toString(16).padStart(21, '0')).toBe(mac.slice(0, 21));
    }),
  );
});

test('what is written is read back, and every token is the only text of its claims', () => {
  enforces('token_reencodes_or_refused');
  fc.assert(
    fc.property(anyClaims, (some) => {
      const text = encodeCompactToken(some, keys);
      expect(parseCompactToken(text, keys)).toEqual(ok(some));
      expect(encodeCompactToken(parseCompactToken(text, keys)._unsafeUnwrap(), keys)).toBe(text);
    }),
  );
});

test.each([
  ['capitals', (text: string) => text.toUpperCase()],
  ['mixed case', (text: string) => text.replace('m', 'M')],
  ['double quotes', (text: string) => `"${text}"`],
  ['single quotes', (text: string) => `'${text}'`],
  ['typographic quotes', (text: string) => `“${text}”`],
  ['guillemets', (text: string) => `«${text}»`],
  ['backticks', (text: string) => `\`\`\`\n${text}\n\`\`\``],
  ['space around it', (text: string) => `  ${text}\t\r\n`],
  ['a line break in the middle', (text: string) => `${text.slice(0, 20)}\n  ${text.slice(20)}`],
  ['groups of four', (text: string) => text.replaceAll(/(.{4})/g, '$1\u00a0')],
  ['zero-width spaces', (text: string) => text.replaceAll(/(.{10})/g, '$1\u200b')],
  ['soft hyphens', (text: string) => text.replaceAll(/(.{10})/g, '$1\u00ad')],
  ['a byte order mark', (text: string) => `\ufeff${text}`],
  ['an underscore escaped for Markdown', (text: string) => text.replace('_', '\\_')],
  ['O for 0', (text: string) => text.replaceAll('0', 'O')],
  ['o for 0', (text: string) => text.replaceAll('0', 'o')],
  ['I for 1', (text: string) => text.replaceAll('1', 'I')],
  ['l for 1', (text: string) => text.replaceAll('1', 'l')],
])('a token is understood with %s', (_, spelling) => {
  enforces('token_v2_forgiving_parse');
  // A tag of confusable digits, and tokens that hold a 0 and a 1 in their bodies.
  const texts = [
    ...golden.compactTokens.map((entry) => entry.token),
    encodeCompactToken({ ...claims, tag: '0110' }, keys),
  ];
  expect(texts.filter((text) => spelling(text) !== text).length).toBeGreaterThan(0);
  for (const text of texts) {
    const plain = parseCompactToken(text, keys);
    expect(plain.isOk()).toBe(true);
    expect(parseCompactToken(spelling(text), keys)).toEqual(plain);
  }
});

test.each([
  ['nothing', '', { kind: 'empty' }],
  ['only wrapping', ' "" ', { kind: 'empty' }],
  ['no prefix', token.slice(4), { kind: 'unknown_prefix', found: 'mpjt440s' }],
  ['a prefix of its own', `tok_${token.slice(4)}`, { kind: 'unknown_prefix', found: 'tok_mpjt' }],
  ['an emoji', '🚀🚀🚀', { kind: 'unknown_prefix', found: '🚀🚀' }],
  ['a missing character', token.slice(0, -1), { kind: 'wrong_length', expected: 52, found: 51 }],
  ['a character too many', `${token}0`, { kind: 'wrong_length', expected: 52, found: 53 }],
  ['a full stop behind it', `${token}.`, { kind: 'foreign_character', character: '.', position: 52 }],
  ['a u', `${token.slice(0, 10)}u${token.slice(11)}`, { kind: 'foreign_character', character: 'u', position: 10 }],
  ['an emoji inside', `ack_🚀${token.slice(6)}`, { kind: 'foreign_character', character: '🚀', position: 4 }],
  ['angle brackets', `<${token}>`, { kind: 'unknown_prefix', found: '<ack_mpj' }],
  ['another prefix', `chk${token.slice(3)}`, { kind: 'prefix_disagrees', prefix: 'checkpoint', inside: 'ack' }],
])('%s is refused with the reason', (_, text, problem) => {
  enforces('token_error_invalid_format');
  expect(parseCompactToken(text, keys)).toEqual(err({ code: 'TOKEN_INVALID_FORMAT', problem }));
});

test('a signed token in another spelling than ours is refused', () => {
  enforces('token_reencodes_or_refused', 'token_kinds_closed');
  const refused = err({ code: 'TOKEN_INVALID_FORMAT', problem: { kind: 'not_canonical' } });
  expect(parseCompactToken(signed('st_mpjt', { first: 0x20, attempt: 0 }), keys).isOk()).toBe(true);
  expect(parseCompactToken(signed('ack_mpjt', { first: 0x21, attempt: 1 }), keys).isOk()).toBe(true);
  expect(parseCompactToken(signed('st_mpjt', { first: 0x20, attempt: 1 }), keys)).toEqual(refused);
  for (let kind = 3; kind < 16; kind++) {
    expect(parseCompactToken(signed('st_mpjt', { first: 0x20 | kind, attempt: 0 }), keys)).toEqual(refused);
  }
});

test('every other version is refused by its number, signed or not', () => {
  enforces('token_error_unsupported_version');
  for (let version = 0; version < 16; version++) {
    if (version === 2 || version === 4) continue;
    expect(parseCompactToken(signed('st_mpjt', { first: version << 4, attempt: 0 }), keys)).toEqual(
      err({ code: 'TOKEN_UNSUPPORTED_VERSION', found: version, supported: [1, 2] }),
    );
  }
});

test('a bound token is as long as another one, and holds for its node alone', () => {
  enforces('token_bound_to_node');
  const bound = encodeCompactToken(claims, keys, node.nodeId);
  expect(bound).toHaveLength(token.length);
  const { isOf, ...read } = parseCompactToken(bound, keys)._unsafeUnwrap();
  expect(read).toEqual(claims);
  expect([node.nodeId, otherNode.nodeId].map((nodeId) => isOf?.(nodeId))).toEqual([true, false]);
  const foreign = { keyring: { current: countingKey(9) }, hmac };
  expect(parseCompactToken(bound, foreign)).toEqual(err({ code: 'TOKEN_BAD_SIGNATURE', kind: 'ack', keysTried: 1 }));
});

test('no character of a bound token can be changed unnoticed', () => {
  const bound = encodeCompactToken(claims, keys, node.nodeId);
  for (const at of Array.from({ length: 44 }, (_, i) => bound.length - 44 + i)) {
    for (const digit of BASE32_ALPHABET) {
      if (digit === bound[at]) continue;
      const parsed = parseCompactToken(`${bound.slice(0, at)}${digit}${bound.slice(at + 1)}`, keys);
      expect(parsed.isOk() && (parsed.value.isOf === undefined || parsed.value.isOf(node.nodeId))).toBe(false);
    }
  }
});

test('a token of a foreign key is refused', () => {
  enforces('token_error_bad_signature');
  const foreign = { keyring: { current: countingKey(9) }, hmac };
  expect(parseCompactToken(token, foreign)).toEqual(err({ code: 'TOKEN_BAD_SIGNATURE', kind: 'ack', keysTried: 1 }));
});

test('encoding claims that no token can hold is a bug', () => {
  expect(() => encodeCompactToken({ ...claims, tag: 'mpj' }, keys)).toThrow('run tag');
  expect(() => encodeCompactToken({ ...claims, tag: 'mpju' }, keys)).toThrow('run tag');
  expect(() => encodeCompactToken({ ...claims, kind: 'state' }, keys)).toThrow('no attempt');
});
