import { resolve } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { readSourceTree } from '../../../test/tidy/source-file.ts';
import {
  canonicalBytes,
  canonicalLines,
  digestHex,
  genesisBytes,
  linkedBytes,
  SHA256_DIGEST_PATTERN,
} from './canonical-bytes.ts';

const root = resolve(import.meta.dirname, '../../..');
const utf8 = (text: string) => new TextEncoder().encode(text);
const refused = err({ code: 'not_json', offence: 'undefined', path: '/a' });

test('canonical bytes are the UTF-8 bytes of canonical JSON', () => {
  enforces('one_canonical_json');
  expect(canonicalBytes({ b: 'é', a: [1] })).toEqual(ok(utf8('{"a":[1],"b":"é"}')));
  expect(canonicalBytes({ a: undefined })).toEqual(refused);
});

test('canonical lines are canonical JSON, each ending in a newline', () => {
  expect(canonicalLines([{ b: 1, a: 2 }, 'x'])).toEqual(ok(utf8('{"a":2,"b":1}\n"x"\n')));
  expect(canonicalLines([])).toEqual(ok(utf8('')));
  expect(canonicalLines([1, { a: undefined }])).toEqual(refused);
});

test('a link is the digest before it, a newline and canonical JSON', () => {
  expect(linkedBytes('sha256:00', { b: 1, a: 2 })).toEqual(ok(utf8('sha256:00\n{"a":2,"b":1}')));
  expect(linkedBytes('sha256:00', { a: undefined })).toEqual(refused);
  expect(genesisBytes('sess_x')).toEqual(utf8('workrail:sess_x'));
});

test('a digest is sha256: and 64 hex digits; its bare hex is what file names use', () => {
  enforces('digest_strings_sha256_hex');
  const digest = sha256(canonicalBytes('')._unsafeUnwrap());
  expect(digest).toBe('sha256:12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126');
  expect(digestHex(digest)).toBe('12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126');
  const hex = 'a'.repeat(64);
  expect([`sha256:${hex}`, hex, `sha1:${hex}`, `sha256:${hex}a`, `sha256:${hex.toUpperCase()}`].map(isDigest)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('only the serializers write JSON in core, and only this module makes canonical bytes', () => {
  enforces('one_canonical_json', 'hash_takes_canonical_bytes_only');
  const sources = readSourceTree(root).filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'));
  const withCode = (pattern: RegExp) => sources.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
  expect(withCode(/as (?:unknown as )?CanonicalBytes\b/)).toEqual(['src/core/json/canonical-bytes.ts']);
  expect(withCode(/JSON\s*\.\s*stringify/).filter((path) => path.startsWith('src/core/'))).toEqual([
    'src/core/assert.ts',
    'src/core/json/canonical-json.ts',
    'src/core/json/quote.ts',
  ]);
});

function isDigest(text: string): boolean {
  return SHA256_DIGEST_PATTERN.test(text);
}
