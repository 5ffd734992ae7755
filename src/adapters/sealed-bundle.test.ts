import { readFileSync } from 'node:fs';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import type { BundleOutput } from '../app/ports/bundle-output.ts';
import { isSealed, openSealed, sealOutput } from './sealed-bundle.ts';

const GOLDEN = readFileSync(new URL('../../test/golden/bundle/encrypted-v1.bin', import.meta.url));
const LOW_COST = { N: 2 ** 14, r: 8, p: 1 };

test('a bundle that an earlier version encrypted can still be opened, in any Unicode form of its passphrase', async () => {
  enforces('encrypted_bundle');
  const opened = (await openSealed(GOLDEN, 'correct horse battery staple'))._unsafeUnwrap();
  expect(Buffer.from(opened).toString()).toBe('{"a bundle":"in two pieces"}');
  const pieces: Uint8Array[] = [];
  const output: BundleOutput = {
    write: async (bytes) => ok(void pieces.push(Buffer.from(bytes))),
    finish: async () => ok(undefined),
    abandon: async () => undefined,
  };
  await (await sealOutput(output, 'zwölf große Bäume', LOW_COST)).finish();
  const sealed = Buffer.concat(pieces);
  expect(await openSealed(sealed, 'zwo\u0308lf große Ba\u0308ume')).toEqual(ok(Buffer.alloc(0)));
  expect(await openSealed(sealed, 'zwolf grosse Baume')).toEqual(err({ code: 'passphrase_wrong' }));
});

test('what is not an encrypted bundle, or asks for too much, is refused before a key is computed', async () => {
  expect([isSealed(GOLDEN), isSealed(Buffer.from('{}')), isSealed(Buffer.alloc(0))]).toEqual([true, false, false]);
  const text = GOLDEN.toString('latin1');
  const changed = (from: string, to: string) => Buffer.from(text.replace(from, to), 'latin1');
  const wrong = [
    Buffer.from('{}'),
    GOLDEN.subarray(0, 40),
    changed('"version":1', '"version":2'),
    changed('"N":16384', '"N":1073741824'),
    changed('"N":16384', '"N":2'),
    changed('aes-256-gcm', 'aes-256-ctr'),
    changed('\n{', `\n${' '.repeat(5_000)}{`),
  ];
  for (const bytes of wrong) expect(await openSealed(bytes, 'x')).toEqual(err({ code: 'seal_unknown' }));
});
