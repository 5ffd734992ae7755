import { expect, it } from 'vitest';
import { inKeyOrder } from './json-value.ts';

it('keys are sorted at every depth, and lists keep their order', () => {
  const value = { b: [{ z: 1, a: null }, 'y', 'x'], a: { d: true, c: 2 } };
  expect(JSON.stringify(inKeyOrder(value))).toBe('{"a":{"c":2,"d":true},"b":[{"a":null,"z":1},"y","x"]}');
  expect(inKeyOrder(value)).toEqual(value);
});
