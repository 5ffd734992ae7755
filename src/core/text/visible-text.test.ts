import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import {
  harmfulCharacters,
  hiddenCharacters,
  isPlainText,
  visibleJson,
  visibleLine,
  visibleText,
} from './visible-text.ts';

describe('invisible characters', () => {
  test('a text that passes the quick look has no invisible character', () => {
    enforces('hidden_characters_shown');
    const plain = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(isPlainText);
    expect(plain.length).toBeGreaterThan(1_000);
    const breaks = ['\n', '\t'];
    expect(plain.filter((one) => visibleJson(one) !== one)).toEqual(breaks.sort());
    expect(plain.filter((one) => one.match(harmfulCharacters()) !== null)).toEqual(breaks.sort());
    expect(plain.filter((one) => /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(one))).toEqual([]);
  });

  test.each([
    ['a\u200bb', 'a[U+200B]b'],
    ['pass\u200dword', 'pass[U+200D]word'],
    ['x\u202egnp.exe', 'x[U+202E]gnp.exe'],
    ['\u2066left\u2069', '[U+2066]left[U+2069]'],
    ['\u{e0041}\u{e0042}', '[U+E0041][U+E0042]'],
    ['\u{1f3f4}\u{e0067}\u{e007f}', '\u{1f3f4}[U+E0067][U+E007F]'],
    ['\u001b[31mred', '[U+001B][31mred'],
    ['a\u0007\u0085\u2028b', 'a[U+0007][U+0085][U+2028]b'],
    ['\ufeffstart\u00ad', '[U+FEFF]start[U+00AD]'],
    ['data\ufe01\ufe0f', 'data[U+FE01][U+FE0F]'],
    ['\u{1f600}\ufe0f\ufe0f', '\u{1f600}\ufe0f[U+FE0F]'],
    ['\u0645\u200c\u200c\u06cc', '\u0645[U+200C][U+200C]\u06cc'],
    ['\u0645\u200c ', '\u0645[U+200C] '],
    ['\ufff9note\ufffb', '[U+FFF9]note[U+FFFB]'],
    ['half \ud800', 'half [U+D800]'],
  ])('the text %j is shown with codes', (text, shown) => {
    enforces('hidden_characters_shown');
    expect(visibleText(text)).toBe(shown);
  });

  test.each([
    ['Persian', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['Hindi', '\u0915\u094d\u200d\u0937'],
    ['Sinhala', '\u0dc1\u0dca\u200d\u0dbb\u0dd3'],
    ['a family', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'],
    ['a woman with a skin tone at a computer', '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}'],
    ['a rainbow flag', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
    ['a keycap', '1\ufe0f\u20e3'],
    ['a Japanese name', '\u845b\u{e0100}\u98fe'],
    ['text with lines', 'a\tb\nc'],
  ])('the characters that %s needs stay as they are', (_, text) => {
    expect([visibleText(text), hiddenCharacters(text)]).toEqual([text, []]);
  });

  test('the characters of a text are listed once, without line breaks and tabs', () => {
    expect(hiddenCharacters('a\u200bb\u200b\r\n\t\u202e\r')).toEqual(['\u200b', '\u202e', '\r']);
  });

  test('a shown text has no invisible character, and showing it again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = visibleText(text);
        expect(once.replaceAll(/[\n\t]/g, '').match(harmfulCharacters())).toBe(null);
        expect(visibleText(once)).toBe(once);
        expect(visibleLine(text)).not.toMatch(/[\n\r\u2028\u2029\v\f\u0085]/);
      }),
    );
  });

  test('shown JSON reads as the same value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(visibleJson(JSON.stringify(text)))).toBe(text);
      }),
    );
  });
});
