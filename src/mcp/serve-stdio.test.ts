import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { wholeLines } from './serve-stdio.ts';

const BYTES_MAX = 8;

test('every complete line that is short enough is passed on, however the input is split, and every other line is reported', async () => {
  const line = fc.stringMatching(/^[ab]{0,12}$/);
  const text = fc.tuple(fc.array(line), line);
  await fc.assert(
    fc.asyncProperty(text, fc.infiniteStream(fc.integer({ min: 1, max: 20 })), async ([lines, rest], sizes) => {
      const whole = lines.map((one) => `${one}\n`);
      const { out, tooLong } = await through(pieces(whole.join('') + rest, sizes));
      expect(out).toBe(whole.filter(isShort).join(''));
      expect(tooLong).toBe([...whole, rest].filter((one) => !isShort(one)).length);
    }),
  );
});

test('an endless line is dropped and reported while it is still arriving', async () => {
  let tooLong = 0;
  const lines = wholeLines(BYTES_MAX, () => {
    tooLong += 1;
  });
  for (let i = 0; i < 1_000; i++) lines.write(Buffer.from('abc'));
  expect([lines.readableLength, tooLong]).toEqual([0, 1]);
  lines.end('\nnext\n');
  expect((await buffer(lines)).toString()).toBe('next\n');
});

async function through(chunks: readonly Buffer[]): Promise<{ readonly out: string; readonly tooLong: number }> {
  let tooLong = 0;
  const lines = wholeLines(BYTES_MAX, () => {
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
