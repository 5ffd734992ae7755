import { expect, it } from 'vitest';
import { MANIFEST_EXAMPLES } from '../../../../test/examples/manifest.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { canonicalLines } from '../../../core/json/canonical-bytes.ts';
import { chainOf, parseManifestRecord } from '../../../core/log/manifest.ts';
import { splitLines } from './lines.ts';
import { plainRecord } from './plain-record.ts';

const LINES = splitLines(canonicalLines(MANIFEST_EXAMPLES)._unsafeUnwrap(), 0);
const PREVIOUS = `sha256:${'a'.repeat(64)}` as const;

function lineOf(text: string) {
  return splitLines(Buffer.from(`${text}\n`), 0)[0] ?? expect.fail();
}

it('reads every line that we write as the thorough reading does', () => {
  expect(new Set(MANIFEST_EXAMPLES.map(({ kind }) => kind)).size).toBe(2);
  for (const [i, line] of LINES.entries()) {
    const record = MANIFEST_EXAMPLES[i] ?? expect.fail();
    const plain = plainRecord(line) ?? expect.fail('a line of ours is a plain one');
    expect(plain.record).toEqual(record);
    expect(plain.chainBehind(PREVIOUS)).toBe(chainOf(PREVIOUS, record, sha256));
  }
});

it('reads a line with any one byte changed as the thorough reading does, or leaves it to that', () => {
  const [segment, pin] = ['segment_closed', 'snapshot_pinned'].map((kind) =>
    LINES.find((_, i) => MANIFEST_EXAMPLES[i]?.kind === kind),
  );
  for (const line of [segment, pin]) {
    const { bytes } = line ?? expect.fail();
    for (let at = 0; at < bytes.length; at++) {
      for (const byte of [0x20, 0x22, 0x2c, 0x30, 0x31, 0x39, 0x61, 0x5c, 0xc3]) {
        const changed = Uint8Array.from(bytes, (old, i) => (i === at ? byte : old));
        const plain = plainRecord({ bytes: changed, offset: 0, end: changed.length + 1, isWhole: true });
        if (plain === undefined) continue;
        const thorough = parseManifestRecord(JSON.parse(Buffer.from(changed).toString('utf8')))._unsafeUnwrap();
        expect(plain.record).toEqual(thorough);
        expect(plain.chainBehind(PREVIOUS)).toBe(chainOf(PREVIOUS, thorough, sha256));
      }
    }
  }
});

it('leaves every line to the thorough reading that says more, or says it in another way', () => {
  const { chain, ...rest } = MANIFEST_EXAMPLES[0] ?? expect.fail();
  const [line] = LINES;
  const text = Buffer.from(line?.bytes ?? []).toString('utf8');
  const others = [
    JSON.stringify({ ...rest, chain }),
    text.replace('{', '{ '),
    text.replace('"v":1', '"v":2'),
    text.replace('"v":1', '"more":1,"v":1'),
    text.replace(/"segmentRelPath":"[^"]*"/, '"segmentRelPath":"../../somewhere"'),
    '',
  ];
  expect(others.map((other) => plainRecord(lineOf(other)))).toEqual(others.map(() => undefined));
});
