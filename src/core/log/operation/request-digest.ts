import type { Result } from 'neverthrow';
import { canonicalBytes, type Sha256, type Sha256Digest } from '../../json/canonical-bytes.ts';
import type { JsonRefusal } from '../../json/canonical-json.ts';
import type { JsonObject } from '../../json/json-value.ts';

/** What an attempt sends besides its token. The order of keys does not matter. */
export type RequestPayload = { readonly output?: JsonObject; readonly context?: JsonObject; readonly mode?: string };

/** Tells an honest replay, which sends the same again, from one with something new in it. */
export function requestDigest(payload: RequestPayload, sha256: Sha256): Result<Sha256Digest, JsonRefusal> {
  return canonicalBytes(payload).map(sha256);
}
