import { expect, it } from 'vitest';
import { MANIFEST_EXAMPLES, SIGNED_EXAMPLES } from '../../../../test/examples/manifest.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { canonicalLines } from '../../../core/json/canonical-json.ts';
import { chainOf, parseManifestRecord } from '../../../core/log/manifest.ts';
import { plainRecord } from './plain-record.ts';

const EXAMPLES = [...MANIFEST_EXAMPLES, ...SIGNED_EXAMPLES];
const LINES = Buffer.from(canonicalLines(EXAMPLES)._unsafeUnwrap()).toString('latin1').trimEnd().split('\n');
const PREVIOUS = `sha256:${'a'.repeat(64)}` as const;

it('the fast manifest reader agrees with the thorough one on every line that we write', () => {
  expect(new Set(MANIFEST_EXAMPLES.map(({ kind }) => kind)).size).toBe(2);
  for (const [i, line] of LINES.entries()) {
    const record = EXAMPLES[i] ?? expect.fail();
    const plain = plainRecord(line) ?? expect.fail('a line of ours is a plain one');
    expect(plain.record).toEqual(record);
    expect(plain.chainAfter(PREVIOUS)).toBe(chainOf(PREVIOUS, record, sha256));
  }
});

it('the fast manifest reader agrees on a line with any changed byte, or leaves it to the thorough one', () => {
  const [segment, pin] = ['segment_closed', 'snapshot_pinned'].map((kind) =>
    LINES.find((_, i) => EXAMPLES[i]?.kind === kind),
  );
  const signed = LINES.find((line) => line.includes('"sig"'));
  for (const line of [segment, pin, signed]) {
    const text = line ?? expect.fail();
    for (let at = 0; at < text.length; at++) {
      for (const character of ' ",019a\\\u00c3') {
        const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
        const plain = plainRecord(changed);
        if (plain === undefined) continue;
        const thorough = parseManifestRecord(JSON.parse(changed))._unsafeUnwrap();
        expect(plain.record).toEqual(thorough);
        expect(plain.chainAfter(PREVIOUS)).toBe(chainOf(PREVIOUS, thorough, sha256));
      }
    }
  }
});

it('the fast manifest reader leaves lines with extra fields or another spelling to the thorough one', () => {
  const { chain, ...rest } = MANIFEST_EXAMPLES[0] ?? expect.fail();
  const [text = ''] = LINES;
  const others = [
    JSON.stringify({ ...rest, chain }),
    text.replace('{', '{ '),
    text.replace('"v":1', '"v":2'),
    text.replace('"v":1', '"more":1,"v":1'),
    text.replace(/"segmentRelPath":"[^"]*"/, '"segmentRelPath":"../../somewhere"'),
    '',
  ];
  expect(others.map(plainRecord)).toEqual(others.map(() => undefined));
});
