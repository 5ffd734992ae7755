import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { golden, keys, otherNode, purpose } from '../../../test/golden/token/token-fixture.ts';
import { BASE32_ALPHABET } from '../text/binary-text.ts';
import { mintToken, parseToken } from './node-token.ts';
import { TOKEN_KINDS } from './token.ts';

const tokens = golden.compactTokens.map(({ token }) => token);
const foreign = [...'_-.\\+=/<>()[]{}:;,!*~\u0000\u200b\u212aéß٣🚀 \t\n`\'"“”'];
const characters = [...new Set([...BASE32_ALPHABET, ...'ilouABCDEFGHIJKLMNOPQRSTUVWXYZ', ...foreign])];

/** The canonical spelling, written down a second time and more simply than in the code. */
function spelledOut(text: string): string {
  const unseen = [...text].filter((character) => !' \t\n`\'"“”\u200b'.includes(character)).join('');
  const bare =
    unseen.split('\\_').length === 2 && !unseen.split('\\_')[0]?.includes('_') ? unseen.replace('\\_', '_') : unseen;
  const lower = bare.replaceAll(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));
  const [prefix = '', ...rest] = lower.split('_');
  return [prefix, ...rest.map((part) => part.replaceAll('o', '0').replaceAll('i', '1').replaceAll('l', '1'))].join('_');
}

type Tally = { refused: number; same: number };

/** Each text is refused, or means what the token meant; the latter only when it is another spelling of it. */
function expectHarmless(token: string, texts: readonly string[]): Tally {
  const meant = parseToken(token, 'attachTo', keys)._unsafeUnwrap();
  const tally = { refused: 0, same: 0 };
  const harmful: string[] = [];
  for (const text of texts) {
    const parsed = parseToken(text, 'attachTo', keys);
    if (parsed.isErr()) tally.refused++;
    else if (isDeepStrictEqual(parsed.value, meant)) tally.same++;
    else harmful.push(text);
    if (parsed.isOk() !== (spelledOut(text) === token)) harmful.push(text);
  }
  expect(harmful).toEqual([]);
  return tally;
}

test.each(tokens)('no single changed, added or lost character turns a token into another one: %s', (token) => {
  enforces('token_is_signed_reference', 'token_reencodes_or_refused', 'token_v2_size_and_mac');
  const positions = [...token].map((_, at) => at);
  const changed = positions.flatMap((at) => characters.map((c) => token.slice(0, at) + c + token.slice(at + 1)));
  const added = positions.flatMap((at) => characters.map((c) => token.slice(0, at) + c + token.slice(at)));
  const lost = positions.map((at) => token.slice(0, at) + token.slice(at + 1));
  const { refused, same } = expectHarmless(token, [...changed, ...added, ...lost]);
  expect(changed.length).toBeGreaterThanOrEqual(2_000);
  expect(refused + same).toBe(changed.length + added.length + lost.length);
  // At the least every character in its own place, and in capitals where it is a letter.
  expect(same).toBeGreaterThan(token.length);
});

test('no cut and no exchange of neighbours turns a token into another one', () => {
  enforces('token_is_signed_reference');
  for (const token of tokens) {
    const positions = [...token].map((_, at) => at);
    const heads = positions.map((at) => token.slice(0, at));
    const tails = positions.slice(1).map((at) => token.slice(at));
    expect(expectHarmless(token, [...heads, ...tails])).toEqual({ refused: 2 * token.length - 1, same: 0 });
    const swapped = positions
      .slice(1)
      .map((at) => token.slice(0, at - 1) + token.charAt(at) + token.charAt(at - 1) + token.slice(at + 1));
    expectHarmless(token, swapped);
  }
});

test('neither prefix, run tag, payload nor MAC of one token works on another', () => {
  enforces('token_is_signed_reference', 'token_scoped_to_run_and_node', 'token_v2_size_and_mac');
  const others = TOKEN_KINDS.map((kind) => mintToken(otherNode, purpose(kind), keys));
  const all = [...tokens, ...others].map((token) => {
    const tagAt = token.indexOf('_') + 1;
    return { token, prefix: token.slice(0, tagAt), tag: token.slice(tagAt, tagAt + 4), body: token.slice(tagAt + 4) };
  });
  let cases = 0;
  for (const a of all) {
    for (const b of all) {
      const texts = [
        b.prefix + a.tag + a.body,
        a.prefix + b.tag + a.body,
        b.prefix + b.tag + a.body,
        // 27 characters hold all of the payload but its last bit.
        a.prefix + a.tag + b.body.slice(0, 27) + a.body.slice(27),
        a.prefix + a.tag + a.body.slice(0, 28) + b.body.slice(28),
      ];
      expectHarmless(a.token, texts);
      cases += texts.length;
    }
  }
  expect(cases).toBe(405);
});

test('every other run tag on a token is refused', () => {
  enforces('token_scoped_to_run_and_node', 'token_v2_size_and_mac');
  const digits = [...BASE32_ALPHABET];
  for (const token of tokens) {
    const at = token.indexOf('_') + 1;
    const tags = digits.flatMap((a) => digits.map((b) => [`${a}${b}jt`, `mp${a}${b}`])).flat();
    const tally = expectHarmless(
      token,
      tags.map((tag) => token.slice(0, at) + tag + token.slice(at + 4)),
    );
    expect(tally).toEqual({ refused: 2 * 32 * 32 - 2, same: 2 });
  }
});
