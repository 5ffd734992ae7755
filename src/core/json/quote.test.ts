import { expect, test } from 'vitest';
import { quote } from './quote.ts';

test('a value is shown as JSON writes it, and a text that is not well-formed is mended first', () => {
  expect([quote('a "b"\n'), quote({ b: 1, a: [null, true] }), quote('\ud800')]).toEqual([
    '"a \\"b\\"\\n"',
    '{"a":[null,true],"b":1}',
    '"\ufffd"',
  ]);
});
