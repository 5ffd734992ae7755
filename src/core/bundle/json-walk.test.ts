import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeUtf8 } from '../text/utf8.ts';
import { type JsonWalk, skipValue, walkList, walkObject } from './json-walk.ts';

const walkOf = (text: string, depthMax = 64): JsonWalk => ({ bytes: encodeUtf8(text), depthMax, fault: undefined });
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test('the end of every JSON value is found in any spelling', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      const walk = walkOf(`${text} ,`);
      expect([skipValue(walk, { at: 0, depth: 0 }), walk.fault]).toEqual([encodeUtf8(text).length, undefined]);
    }),
  );
});

test('members and items are found in order, including repeated keys', () => {
  const walk = walkOf('{ "a" : [1, "x,]}\\"" , {}] ,"a":null,"\\u0061" : {"b":[]}}');
  const found: (readonly [string, string])[] = [];
  const end = walkObject(walk, { at: 0, depth: 0 }, ([from, to], value) => {
    const valueEnd = skipValue(walk, value);
    found.push([textOf(walk.bytes.subarray(from, to)), textOf(walk.bytes.subarray(value.at, valueEnd))]);
    return valueEnd;
  });
  expect([end, found]).toEqual([
    walk.bytes.length,
    [
      ['"a"', '[1, "x,]}\\"" , {}]'],
      ['"a"', 'null'],
      ['"\\u0061"', '{"b":[]}'],
    ],
  ]);
  const items = walkOf('[ 1,\n[2] ,"3"]');
  const starts: number[] = [];
  walkList(items, { at: 0, depth: 0 }, (value) => {
    starts.push(value.at);
    return skipValue(items, value);
  });
  expect(starts).toEqual([2, 5, 10]);
});

test.each([
  ['', 0],
  ['hello', 0],
  ['01', 0],
  ['"no end', 0],
  ['"no end \\"', 0],
  ['[1,2', 4],
  ['{"a":1', 6],
])('%j is not a JSON value, and the fault has its offset', (text, offset) => {
  const walk = walkOf(text);
  expect([skipValue(walk, { at: 0, depth: 0 }), walk.fault]).toEqual([undefined, { reason: 'not_json', offset }]);
});

test.each(['{1:2}', '{"a" 1}', '{"a":1 "b":2}', '{,}', '{"a":1,}'])('%s is not a JSON object', (text) => {
  const walk = walkOf(text);
  expect(walkObject(walk, { at: 0, depth: 0 }, (_, value) => skipValue(walk, value))).toBeUndefined();
  expect(walk.fault?.reason).toBe('not_json');
});

test('values up to the allowed depth are found, and one level more is refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 3 }), (depthMax, around) => {
      const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
      const inner = Math.max(depthMax - around, 0);
      if (inner > 0) expect(skipValue(walkOf(nested(inner), depthMax), { at: 0, depth: around })).toBe(2 * inner);
      const tooDeep = walkOf(nested(inner + 1), depthMax);
      expect(skipValue(tooDeep, { at: 0, depth: around })).toBeUndefined();
      expect(tooDeep.fault).toEqual({ reason: 'too_deep', offset: inner });
    }),
  );
});

test('a million open brackets do not overflow the stack', () => {
  const walk = walkOf('{"a":'.repeat(1_000_000), 2_000_000);
  expect(skipValue(walk, { at: 0, depth: 0 })).toBeUndefined();
  expect(walk.fault?.reason).toBe('not_json');
});
