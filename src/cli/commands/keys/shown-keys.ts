import { assert } from '../../../core/assert.ts';
import { canonicalBytes, digestHex, type Sha256 } from '../../../core/json/canonical-bytes.ts';
import { toBase64Url } from '../../../core/token/base64url.ts';
import type { Keyring, SigningKey } from '../../../core/token/keyring.ts';
import type { ShownKeys } from '../../shapes/keys/keys-shapes.ts';

const SHOWN_DIGITS = 12;

/** The keys by their fingerprints; a key itself is never shown. */
export function shownKeys(keyring: Keyring | undefined, sha256: Sha256): ShownKeys {
  const print = (key: SigningKey | undefined) => (key === undefined ? null : fingerprint(key, sha256));
  return { current: print(keyring?.current), previous: print(keyring?.previous) };
}

function fingerprint(key: SigningKey, sha256: Sha256): string {
  const bytes = canonicalBytes(toBase64Url(key));
  assert(bytes.isOk(), 'a text is JSON');
  return digestHex(sha256(bytes.value)).slice(0, SHOWN_DIGITS);
}
