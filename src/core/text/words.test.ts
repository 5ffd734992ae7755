import { expect, it } from 'vitest';
import { andList, orList, plural, shellWord, shortList, sizeOf } from './words.ts';

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
