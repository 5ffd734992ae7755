import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { MESSAGE_LIMITS, type MessageRefusal, readMessage } from './message-limits.ts';
import { wholeLines } from './serve-stdio.ts';

const BYTES_MAX = 8;
const LIMITS = { bytesMax: BYTES_MAX, keysMax: 1, valuesMax: 2, depthMax: 1 };

test('every complete line that is short enough is passed on, however the input is split, and every other line is reported', async () => {
  const line = fc.stringMatching(/^[12]{0,12}$/);
  const text = fc.tuple(fc.array(line), line);
  await fc.assert(
    fc.asyncProperty(text, fc.infiniteStream(fc.integer({ min: 1, max: 20 })), async ([lines, rest], sizes) => {
      const whole = lines.map((one) => `${one}\n`);
      const { out, tooLong } = await through(pieces(whole.join('') + rest, sizes));
      expect(out).toBe(whole.filter((one) => isShort(one) && one !== '\n').join(''));
      expect(tooLong).toBe([...whole, rest].filter((one) => !isShort(one)).length);
    }),
  );
});

test('white space, line ends of Windows and a byte order mark around a message do not make the library drop it', async () => {
  const lines = wholeLines({ ...LIMITS, bytesMax: 100 }, () => expect.fail());
  lines.end('\ufeff{"a":1}\n{"b":2}\r\n \u00a0{"c":3}\u2028\v\n');
  expect((await buffer(lines)).toString()).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
});

test('an endless line is dropped and reported while it is still arriving', async () => {
  let tooLong = 0;
  const lines = wholeLines(LIMITS, () => {
    tooLong += 1;
  });
  for (let i = 0; i < 1_000; i++) lines.write(Buffer.from('abc'));
  expect([lines.readableLength, tooLong]).toEqual([0, 1]);
  lines.end('\n"next"\n');
  expect((await buffer(lines)).toString()).toBe('"next"\n');
});

test('a line that is not JSON, or has too many values, is refused by name, and the next line is passed on', async () => {
  const refused: string[] = [];
  const lines = wholeLines({ ...LIMITS, bytesMax: 100 }, ({ code, message }) => refused.push(`${code} ${message}`));
  lines.end('hello?\n{"a":1,"b":2}\n[1,2,3]\n[[]]\n{"a":"\\":[[[,,,"}\n');
  expect((await buffer(lines)).toString()).toBe('{"a":"\\":[[[,,,"}\n');
  expect(refused).toEqual([
    '-32700 Nothing was done: the message is not valid JSON. Send it again.',
    ...['1 keys', '2 values', '1 deep'].map((excess) => expect.stringMatching(`^-32600 .* .*${excess}`)),
  ]);
});

test('a call with parameters of another shape reaches the tool in a shape that it can explain', async () => {
  const call = (params: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
  const passed = async (params: unknown) => {
    const refused: MessageRefusal[] = [];
    const lines = wholeLines(MESSAGE_LIMITS, (refusal) => refused.push(refusal));
    lines.end(`${call(params)}\n`);
    const text = (await buffer(lines)).toString();
    return text === '' ? refused : JSON.parse(text).params;
  };
  const name = 'resume_session';
  expect(await passed({ name, arguments: 'x' })).toEqual({ name, arguments: { arguments: 'x' } });
  expect(await passed({ name, arguments: [1] })).toEqual({ name, arguments: { arguments: [1] } });
  expect(await passed({ name, arguments: null })).toEqual({ name, arguments: {} });
  expect(await passed({ name: 5 })).toEqual({ name: '5', arguments: {} });
  expect(await passed('x')).toEqual({ name: '', arguments: { arguments: 'x' } });
  expect(await passed({ name, arguments: { query: 'x' } })).toEqual({ name, arguments: { query: 'x' } });
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`a${i}`, 1]));
  expect(await passed({ name, arguments: many })).toEqual([
    { id: 7, code: -32_602, message: expect.stringContaining('1001 arguments') },
  ]);
});

async function through(chunks: readonly Buffer[]): Promise<{ readonly out: string; readonly tooLong: number }> {
  let tooLong = 0;
  const lines = wholeLines(LIMITS, () => {
    tooLong += 1;
  });
  const out = await buffer(Readable.from(chunks).pipe(lines));
  return { out: out.toString(), tooLong };
}

function pieces(text: string, sizes: Iterator<number>): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < text.length; at += found.at(-1)?.length ?? 0) {
    found.push(Buffer.from(text.slice(at, at + Number(sizes.next().value))));
  }
  return found;
}

function isShort(line: string): boolean {
  return line.length <= BYTES_MAX;
}

const callWith = (args: string) =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":${args}}}`;

test.each([
  ['{"context":{"a":"1","order":12345678901234567890}}', 'context.order', '12345678901234567890'],
  [
    '{"output":{"artifacts":[{"n":1},{"list":[1,9007199254740993]}]}}',
    'output.artifacts[1].list[1]',
    '9007199254740993',
  ],
  ['{"context":{"pi":3.14159265358979323846}}', 'context.pi', '3.14159265358979323846'],
  ['{"context":{"huge":1e999}}', 'context.huge', '1e999'],
  ['{"context":{"tiny":-1e-999}}', 'context.tiny', '-1e-999'],
])('the number in %s would be rounded and is refused by name', (args, name, number) => {
  enforces('inexact_numbers_refused');
  const refused = readMessage(callWith(args))._unsafeUnwrapErr();
  expect(refused).toMatchObject({ id: 7, code: -32_602 });
  expect(refused.message).toContain(`${name} is ${number}, `);
  expect(refused.message).toContain(`Send it as text: "${number}".`);
});

test.each([
  '{}',
  '[]',
  '"x"',
  'null',
  '{"name":7}',
  '{"name":"start","arguments":"x"}',
  '{"name":"start","arguments":{"a":1}}',
])('a prompt that is asked for with %s is refused in words of our own', (params) => {
  const refused = readMessage(`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":${params}}`)._unsafeUnwrapErr();
  expect(refused).toMatchObject({ id: 7, code: -32_602, message: expect.stringMatching(/^Nothing was done: [\w ]+/) });
  expect(refused.message).not.toMatch(/expected|received|"code"/);
});

test('a number that parsing keeps is passed on, however it is written, and so is any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger()), (number) => {
      const spellings = [JSON.stringify(number), number.toExponential(), number.toExponential(16)];
      const kept = spellings.filter((text) => Number(text) === number).slice(0, 2);
      for (const text of kept) expect(readMessage(callWith(`{"context":{"n":${text}}}`)).isOk()).toBe(true);
    }),
  );
  for (const text of [
    '{"context":{"a":"12345678901234567890 \\" 1e999"}}',
    '{"context":{"n":100000000000000000000000}}',
  ])
    expect(readMessage(callWith(text)).isOk()).toBe(true);
});
