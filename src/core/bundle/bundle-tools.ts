import type { Result } from 'neverthrow';
import type { Sha256, Sha256Digest } from '../json/canonical-bytes.ts';

/** Takes bytes piece by piece, so that what is hashed need never be there as a whole. */
export type RunningSha256 = { add(bytes: Uint8Array): void; digest(): Sha256Digest };

/** What reading and writing bundles needs from outside. */
export type BundleTools = {
  readonly sha256: Sha256;
  readonly digestOf: (bytes: Uint8Array) => string;
  readonly runningSha256: () => RunningSha256;
  /** JSON from bytes that must be UTF-8 to the last, in which nothing is called `__proto__`. */
  readonly parseJson: (bytes: Uint8Array) => Result<unknown, 'not_json' | 'reserved_name'>;
  readonly toBase64: (bytes: Uint8Array) => string;
  /** Nothing for a text that is not exactly what `toBase64` would write. */
  readonly fromBase64: (text: string) => Uint8Array | undefined;
};
