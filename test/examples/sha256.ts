import { createHash } from 'node:crypto';
import type { Sha256, Sha256Digest } from '../../src/core/json/canonical-json.ts';
import type { ContentHashes } from '../../src/core/log/plan/append-plan.ts';

/** The hash function that tests pass to core. */
export const sha256: Sha256 = digest;

/** The hash functions for sealing a plan. */
export const HASHES: ContentHashes = { sha256, digestOf: digest };

/** The same for any value of a test. */
export function digest(content: Uint8Array | string): Sha256Digest {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
