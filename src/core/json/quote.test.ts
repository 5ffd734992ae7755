import { expect, test } from 'vitest';
import { quote } from './quote.ts';

test('a value is quoted as JSON, and lone surrogates in a text are replaced first', () => {
  expect([quote('a "b"\n'), quote({ b: 1, a: [null, true] }), quote('\ud800')]).toEqual([
    '"a \\"b\\"\\n"',
    '{"a":[null,true],"b":1}',
    '"\ufffd"',
  ]);
});
