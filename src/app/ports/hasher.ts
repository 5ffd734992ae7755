import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { HmacSha256 } from '../../core/token/keyring.ts';

/** The cryptography that core is handed as values. */
export type Hasher = {
  readonly sha256: Sha256;
  readonly hmacSha256: HmacSha256;
};
