import { describe, expect, it, test } from 'vitest';
import { defined, inKeyOrder, quote } from './json-value.ts';

it('keys are sorted at every depth, and lists keep their order', () => {
  const value = { b: [{ z: 1, a: null }, 'y', 'x'], a: { d: true, c: 2 } };
  expect(JSON.stringify(inKeyOrder(value))).toBe('{"a":{"c":2,"d":true},"b":[{"a":null,"z":1},"y","x"]}');
  expect(inKeyOrder(value)).toEqual(value);
});

describe('optional fields', () => {
  it('a field that is undefined is left out, and every other value stays', () => {
    const line: string | undefined = undefined as string | undefined;
    const fields: { readonly id: string; readonly line?: string; readonly count?: number } = defined({
      id: 'a',
      line,
      count: 0,
    });
    expect(fields).toStrictEqual({ id: 'a', count: 0 });
    expect(Object.keys(defined({ a: null, b: false, c: '' }))).toEqual(['a', 'b', 'c']);
  });
});

test('a value is quoted as JSON, and lone surrogates in a text are replaced first', () => {
  expect([quote('a "b"\n'), quote({ b: 1, a: [null, true] }), quote('\ud800')]).toEqual([
    '"a \\"b\\"\\n"',
    '{"a":[null,true],"b":1}',
    '"\ufffd"',
  ]);
});
