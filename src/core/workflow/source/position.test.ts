import { describe, expect, it } from 'vitest';
import { sourcePosition } from './position.ts';

describe('the position of a span', () => {
  it.each([
    ['', 0, { line: 1, column: 1 }],
    ['{"a":1}', 1, { line: 1, column: 2 }],
    ['{\n  "a": 1\n}', 4, { line: 2, column: 3 }],
    ['{\r\n  "a": 1\r\n}', 5, { line: 2, column: 3 }],
    ['{\n\n}', 1, { line: 1, column: 2 }],
    ['{\n\n}', 2, { line: 2, column: 1 }],
    ['{\n\n}', 3, { line: 3, column: 1 }],
    ['{"😀é": x', 7, { line: 1, column: 7 }],
    ['a\n', 2, { line: 2, column: 1 }],
  ])('in %j at %i is %j', (text, offset, position) => {
    expect(sourcePosition(text, { offset, length: 1 })).toEqual(position);
  });
});
