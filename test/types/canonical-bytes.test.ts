import { expect, test } from 'vitest';
import { type CanonicalBytes, canonicalBytes } from '../../src/core/json/canonical-json.ts';
import { enforces } from '../enforces.ts';
import { sha256 } from '../examples/sha256.ts';

test('only canonical bytes can be hashed: the compiler refuses anything else', () => {
  enforces('hash_takes_canonical_bytes_only');
  const bytes: CanonicalBytes = canonicalBytes({ a: 1 })._unsafeUnwrap();
  const hashed = () => [
    sha256(bytes),
    // @ts-expect-error a text is not canonical bytes
    sha256('{"a":1}'),
    // @ts-expect-error any bytes are not canonical bytes
    sha256(new TextEncoder().encode('{"a":1}')),
    // @ts-expect-error a value is not canonical bytes
    sha256({ a: 1 }),
    // @ts-expect-error what may have been refused is not canonical bytes
    sha256(canonicalBytes({ a: 1 })),
  ];
  expect(hashed).toBeTypeOf('function');
  expect(sha256(bytes)).toBe('sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862');
});
