import { expect, it } from 'vitest';
import { truncate } from './utf8.ts';
import { andList, asksForWords, gapText, orList, plural, shellWord, shortList, sizeOf } from './words.ts';

it('a count agrees with its noun', () => {
  expect([plural(1, 'step'), plural(0, 'step'), plural(2, 'entry', 'entries')]).toEqual([
    '1 step',
    '0 steps',
    '2 entries',
  ]);
});

it('a list of words reads as part of a sentence', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(orList)).toEqual(['', 'a', 'a or b', 'a, b or c']);
  expect(andList(['a', 'b', 'c'])).toBe('a, b and c');
  expect([shortList(['a', 'b'], 2), shortList(['a', 'b', 'c'], 2)]).toEqual(['a, b', 'a, b and 1 more']);
});

it('a size has one decimal from a thousand bytes on', () => {
  expect([999, 1_000, 1_540_000].map(sizeOf)).toEqual(['999 B', '1.0 kB', '1.5 MB']);
});

it('a word of a suggested command is quoted only where a shell would split or expand it', () => {
  expect(['a b;touch x.json', "it's", '', 'ü.json', '$(x)', '~/x'].map(shellWord)).toEqual([
    "'a b;touch x.json'",
    `'it'\\''s'`,
    "''",
    "'ü.json'",
    "'$(x)'",
    "'~/x'",
  ]);
  expect(['./a-b_1.json', 'npm:@acme/flows', 'run_abc'].map(shellWord)).toEqual([
    './a-b_1.json',
    'npm:@acme/flows',
    'run_abc',
  ]);
});

it('a gap is shown without the regular expression of its requirement, also if the summary was cut', () => {
  const number = 'Number the findings (the notes must match /Finding (\\d+)/i)';
  expect(gapText(`Not met: ${number}. ${number}.`)).toBe('Not met: Number the findings. Number the findings.');
  expect(gapText(truncate(`Not met: ${number}; ${number}`, 80))).toBe('Not met: Number the findings…');
  expect(gapText(`${number.slice(0, 50)}…; Say it`)).toBe('Number the findings; Say it');
  expect(gapText('Say which (or the notes must match /a|b/)')).toBe('Say which');
  const kept = 'No drafts (the notes must not match /TODO/)';
  expect(gapText(kept)).toBe(kept);
});

it('what a step asks for is a sentence, in which each thing beside alternatives has its own "for"', () => {
  expect(
    [['notes'], ['notes', 'wr.x', 'the assessment "fit"'], ['notes', 'an answer or a file']].map(asksForWords),
  ).toEqual([
    'asks for notes',
    'asks for notes, wr.x and the assessment "fit"',
    'asks for notes, and for an answer or a file',
  ]);
});
