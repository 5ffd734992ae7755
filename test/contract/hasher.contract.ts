import { expect, test } from 'vitest';
import type { Hasher } from '../../src/app/ports/system-services.ts';
import { canonicalBytes } from '../../src/core/json/canonical-json.ts';
import { enforces } from '../enforces.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const text = (content: string) => new TextEncoder().encode(content);
const hex = (content: Uint8Array) => Buffer.from(content).toString('hex');

/** Published test vectors. */
export function hasherContract(makeHasher: () => Hasher): void {
  test.each([
    [{}, '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
    [{ a: 1 }, '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862'],
  ])('the hash of %j is SHA-256 as lower-case hex with its name in front', (value, expected) => {
    enforces('digest_strings_sha256_hex');
    const { sha256 } = makeHasher();
    expect(sha256(canonicalBytes(value)._unsafeUnwrap())).toBe(`sha256:${expected}`);
  });

  // RFC 4231, test cases 1, 2 and 6.
  test.each([
    [bytes('0b'.repeat(20)), text('Hi There'), 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      text('Jefe'),
      text('what do ya want for nothing?'),
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      bytes('aa'.repeat(131)),
      text('Test Using Larger Than Block-Size Key - Hash Key First'),
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('a message is signed with HMAC-SHA-256 (%#)', (key, message, expected) => {
    const before = [hex(key), hex(message)];
    expect(hex(makeHasher().hmacSha256(key, message))).toBe(expected);
    expect([hex(key), hex(message)]).toEqual(before);
  });
}
