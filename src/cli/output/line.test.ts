import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { printable, printableJson } from './line.ts';

/** Everything that can move, hide, colour or reorder what a terminal shows, and the halves of a character. */
const HARMFUL_CODES: ReadonlySet<number> = new Set([
  ...range(0x00, 0x1f),
  ...range(0x7f, 0x9f),
  0x00ad,
  0x061c,
  0x200b,
  ...range(0x200e, 0x200f),
  ...range(0x2028, 0x202e),
  ...range(0x2060, 0x2069),
  0x3164,
  0xd800,
  0xdfff,
  0xfeff,
]);

describe('text that is printed', () => {
  it('printable text shows control characters, escape sequences and direction marks as escapes', () => {
    enforces('cli_escapes_not_raw');
    expect(printable('\u001b[31mred\u001b[0m')).toBe('\\u001b[31mred\\u001b[0m');
    expect(printable('title\u001b]0;owned\u0007')).toBe('title\\u001b]0;owned\\u0007');
    expect(printable('one\r\ntwo\tthree')).toBe('one\\u000d\\u000atwo\\u0009three');
    expect(printable('file\u202egpj.exe')).toBe('file\\u202egpj.exe');
    expect(printable('ad\u200bmin')).toBe('ad\\u200bmin');
    expect(printable('a\u{e0041}b')).toBe('a\\udb40\\udc41b');
    for (const code of HARMFUL_CODES) {
      expect(printable(`a${String.fromCharCode(code)}b`)).toBe(`a\\u${code.toString(16).padStart(4, '0')}b`);
    }
  });

  it('harmless text in any language is printed unchanged', () => {
    for (const text of ['', 'plain', 'naïve “quotes” – ✓', 'שלום', '日本語', '👩‍👩‍👧 🏳️‍🌈', 'می‌خواهم']) {
      expect(printable(text)).toBe(text);
    }
  });

  it('printable text is always harmless, and making it printable twice changes nothing', () => {
    fc.assert(
      fc.property(text(), (given) => {
        const shown = printable(given);
        expect([...shown].filter((character) => HARMFUL_CODES.has(character.codePointAt(0) ?? 0))).toEqual([]);
        expect(shown.isWellFormed()).toBe(true);
        expect(printable(shown)).toBe(shown);
      }),
    );
  });

  it('printable JSON parses to the same value', () => {
    fc.assert(
      fc.property(text(), (given) => {
        const shown = printableJson({ given });
        expect(JSON.parse(shown)).toEqual({ given });
        expect(printable(shown)).toBe(shown);
      }),
    );
  });
});

function text(): fc.Arbitrary<string> {
  const harmful = fc.constantFrom(...[...HARMFUL_CODES].map((code) => String.fromCharCode(code)));
  const anything = fc.oneof(fc.nat(0xffff), fc.nat(0x10ffff)).map((code) => String.fromCodePoint(code));
  return fc.array(fc.oneof(harmful, anything, fc.string()), { maxLength: 8 }).map((parts) => parts.join(''));
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
