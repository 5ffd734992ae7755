import type { Result } from 'neverthrow';
import type { ParsedJson, Sha256, Sha256Digest } from '../json/canonical-json.ts';

/** Hashes bytes piece by piece, so that they need not be in memory as a whole. */
export type RunningSha256 = { add(bytes: Uint8Array): void; digest(): Sha256Digest };

/** What core needs from outside to read and write bundles. */
export type BundleTools = {
  readonly sha256: Sha256;
  readonly digestOf: (bytes: Uint8Array) => string;
  readonly runningSha256: () => RunningSha256;
  /** JSON from bytes that must be valid UTF-8 and must not contain the key `__proto__`. */
  readonly parseJson: (bytes: Uint8Array) => Result<unknown, 'not_json' | 'reserved_name'>;
  /** The same, with the text. */
  readonly parseText: (bytes: Uint8Array) => Result<ParsedJson, 'not_json' | 'reserved_name'>;
  readonly toBase64: (bytes: Uint8Array) => string;
  /** `undefined` for a text that is not exactly what `toBase64` writes. */
  readonly fromBase64: (text: string) => Uint8Array | undefined;
};
