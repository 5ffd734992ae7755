import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clipText, columnsOf, fitLine, padText, textWidth, wrapText } from './text-width.ts';

it('a wide character takes two cells and a combining mark none', () => {
  expect(textWidth('日本 a')).toBe(6);
  expect(textWidth('e\u0301')).toBe(1);
  expect(padText('日本', 6)).toBe('日本  ');
  expect(clipText('日本語', 5)).toBe('日本…');
  expect(clipText('fits', 4)).toBe('fits');
  expect(clipText(' two\n lines ', 20)).toBe('two lines');
  expect(clipText('\u001b[31mred', 10)).toBe('\\u001b[31…');
});

const unit = fc.constantFrom('a', ' ', '\n', '日', 'e\u0301', '😀', '𠀀', '\u001b', '\u202e', '\ud83d', '\u0000');

it('any text that is clipped or wrapped fits the width', () => {
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 200 }), fc.integer({ min: 2, max: 40 }), (text, width) => {
      expect(textWidth(clipText(text, width))).toBeLessThanOrEqual(width);
      for (const line of wrapText(text, width)) {
        expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/[\n\r]/);
      }
    }),
    { numRuns: 50 },
  );
});

it('a megabyte of text is clipped without reading all of it, and wrapped quickly', () => {
  expect(clipText('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(9)}…`);
  expect(wrapText('x'.repeat(1_000_000), 10)).toHaveLength(100_000);
});

it('lines break at blanks if possible', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapText('abcdefgh ij', 3)).toEqual(['abc', 'def', 'gh', 'ij']);
  expect(wrapText('', 3)).toEqual([]);
});

it('a line with a speaker wraps under its words, and stays unchanged if it fits', () => {
  const speaker = { text: '  rail   ', style: 'good' } as const;
  const line = [speaker, { text: 'blocked: ', style: 'bad' } as const, 'This step requires notes, and none were sent.'];
  expect(fitLine(line, 80)).toEqual([line]);
  expect(fitLine(line, 40)).toEqual([
    [speaker, 'blocked: This step requires'],
    ['         notes, and none were sent.'],
  ]);
});

it('a terminal without a size counts as 80 columns wide', () => {
  const width = (columns: number | undefined) => columnsOf({ terminal: { columns: () => columns } });
  expect([0, undefined, 120].map(width)).toEqual([80, Number.POSITIVE_INFINITY, 120]);
});
