import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedName } from './repeated-name.ts';

test.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":1,"\\u0061" : 2}', 'a'],
  ['[{"x":{"v":1}},{"x":{"v":1,"v":1}}]', 'v'],
  ['{"a":{"b":1},"b":2,"a\\"":"a","c":["a","a:","{"]}', undefined],
  ['{"say":"\\"x\\":1,\\"x\\":2","__proto__":1,"constructor":2}', undefined],
  ['"a"', undefined],
])('%s repeats %s', (json, name) => {
  expect(repeatedName(json)).toBe(name);
});

test('JSON from a serializer is never reported as having a repeated name', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (json) => {
      expect(repeatedName(json)).toBeUndefined();
    }),
  );
});

test('deep nesting and long texts are read to their end', () => {
  const deep = 200_000;
  expect(repeatedName(`${'[{"a":'.repeat(deep)}{"b":1,"b":1}${'}]'.repeat(deep)}`)).toBe('b');
  expect(repeatedName(`{"a":${JSON.stringify('\\"x{'.repeat(deep))},"a":1}`)).toBe('a');
});
