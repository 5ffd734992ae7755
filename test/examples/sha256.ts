import { createHash } from 'node:crypto';
import type { Sha256, Sha256Digest } from '../../src/core/json/canonical-bytes.ts';

/** The hash function that core is handed in tests. */
export const sha256: Sha256 = digest;

/** The same for anything a test makes up. */
export function digest(content: Uint8Array | string): Sha256Digest {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
