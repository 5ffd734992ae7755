import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { fillPlaces, lenientEquals, numberOf, pathsIn, readPath } from './context-values.ts';

const context: JsonObject = {
  plan: { slices: [{ name: 'first' }, { name: 'second' }], owner: null },
  'plan.literal': 'a key with a dot',
  currentItem: { name: 'of context' },
  title: 'text',
};

describe('a path into context', () => {
  it.each([
    ['title', 'text'],
    ['plan.slices.1.name', 'second'],
    ['plan.literal', 'a key with a dot'],
    ['plan.owner', null],
    ['currentItem.name', 'of context'],
  ])('a path into context %s leads to %j', (path, value) => {
    expect(readPath({ context, loopVariables: {} }, path)).toBe(value);
  });

  it.each([
    'absent',
    'plan.slices.2.name',
    'plan.slices.01.name',
    'plan.slices.-1',
    'plan.slices.length',
    'plan.owner.name',
    'title.length',
    'title.0',
    '',
    '.',
    'plan.',
    'constructor',
    '__proto__',
    'plan.__proto__',
    'plan.constructor.name',
    'plan.hasOwnProperty',
    'plan.slices.map',
  ])('a path into context %j leads nowhere', (path) => {
    expect(readPath({ context, loopVariables: {} }, path)).toBeUndefined();
  });

  it('a path into context sees a loop variable instead of the context value of that name, also where it has less', () => {
    const loopVariables = { currentItem: { id: 7 }, currentIndex: 0 };
    expect(readPath({ context, loopVariables }, 'currentItem.id')).toBe(7);
    expect(readPath({ context, loopVariables }, 'currentItem.name')).toBeUndefined();
    expect(readPath({ context, loopVariables }, 'currentIndex')).toBe(0);
    expect(readPath({ context, loopVariables }, 'title')).toBe('text');
  });
});

const EQUAL: readonly [JsonValue | undefined, JsonValue | undefined][] = [
  [null, undefined],
  [null, null],
  [' Large\n', 'LARGE'],
  ['Straße', 'STRASSE'],
  ['οδος', 'ΟΔΟΣ'],
  ['3', 3],
  [' 3.50 ', 3.5],
  ['1e3', 1000],
  [true, 1],
  [true, '1'],
  [true, ' Yes '],
  [true, 'TRUE'],
  [false, 0],
  [false, '0'],
  [false, 'no'],
  [false, 'False'],
  [0, -0],
  [
    ['A', 1],
    ['a ', '1'],
  ],
  [{ mode: 'Fast', unset: null }, { mode: 'fast' }],
];

const DIFFERENT: readonly [JsonValue | undefined, JsonValue | undefined][] = [
  [null, false],
  [null, 0],
  [null, ''],
  [undefined, 'null'],
  ['', 0],
  ['', false],
  ['large', 'larger'],
  ['3', '3.0'],
  ['yes', 'true'],
  ['1', 'yes'],
  [true, 2],
  [true, 'on'],
  [true, false],
  [true, '1.0'],
  ['Infinity', 1],
  [[], null],
  [[1], 1],
  [[1, 2], [1]],
  [{}, []],
  [{ a: 1 }, { a: 2 }],
  [{ toString: null }, { toString: 'x' }],
];

describe('lenient equality', () => {
  it.each(EQUAL)('lenient equality %j equals %j, whichever comes first', (a, b) => {
    enforces('condition_lenient_equality');
    expect([lenientEquals(a, b), lenientEquals(b, a)]).toEqual([true, true]);
  });

  it.each(DIFFERENT)('lenient equality %j does not equal %j, whichever comes first', (a, b) => {
    enforces('condition_lenient_equality');
    expect([lenientEquals(a, b), lenientEquals(b, a)]).toEqual([false, false]);
  });

  it('lenient equality does not depend on the order of the sides, and everything equals itself', () => {
    const loose = fc.oneof(fc.constantFrom('yes', 'No', ' 1', '0', 1, 0, true, false, null, '1.0'), fc.jsonValue());
    fc.assert(
      fc.property(loose, loose, (a, b) => {
        const [left, right] = [a as JsonValue, b as JsonValue];
        expect(lenientEquals(left, right)).toBe(lenientEquals(right, left));
        expect(lenientEquals(left, left)).toBe(true);
      }),
    );
  });

  it('lenient equality does not treat other text as a number', () => {
    expect(['', ' ', 'three', '1,5', 'NaN', 'Infinity', true, null, [], undefined].map(numberOf)).toEqual(
      Array.from({ length: 10 }, () => undefined),
    );
  });
});

describe('a place for a value in a text', () => {
  // One pattern for names of all scripts; the code avoids it where a name is plain.
  const PLACE = /\{\{[ \t]*([\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*)[ \t]*\}\}/gu;
  const pieces = [
    '{',
    '{{',
    '}',
    '}}',
    ' ',
    '\t',
    '\n',
    '.',
    'a',
    'Ä',
    '名',
    '𝒳',
    '\ud835',
    '7',
    '_',
    '$',
    '-',
    '|',
    '\u00a0',
  ];

  it('holds a key or a dotted path in letters of any script, and nothing else', () => {
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((all) => all.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(pathsIn(text)).toEqual([...text.matchAll(PLACE)].map(([, path]) => path));
        const shown = (path: string, place: string, at: number) => `<${path} ${place.length} ${at}>`;
        const filled = text.replaceAll(PLACE, (place, path: string, at: number) => shown(path, place, at));
        expect(fillPlaces(text, shown)).toBe(filled);
      }),
      { numRuns: 2_000 },
    );
  });
});
