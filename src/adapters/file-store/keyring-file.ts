import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import { assert } from '../../core/assert.ts';
import { type CanonicalBytes, canonicalBytes, type Sha256 } from '../../core/json/canonical-bytes.ts';
import { type Keyring, type KeyringDocument, keyringDocument, parseKeyring } from '../../core/token/keyring.ts';
import { damagedContent, parseStored } from './content/parse-stored.ts';
import { layout } from './disk/layout.ts';

/** The file of a keyring: its document, with a sum over it. */
export function keyringBytes(keyring: Keyring, sha256: Sha256): Uint8Array {
  const document = keyringDocument(keyring);
  return bytesOf({ ...document, sum: sha256(bytesOf(document)) });
}

export function parseKeyringFile(bytes: Uint8Array, sha256: Sha256): Result<Keyring, StoreFailure> {
  const place = layout.keyring;
  const parse = (value: unknown) =>
    parseKeyring(value).map((keyring) => ({ keyring, isSound: isSound(value as KeyringDocument, sha256) }));
  return parseStored(place, bytes, parse).andThen(({ keyring, isSound }) =>
    isSound ? ok(keyring) : err(damagedContent(place, 'content_digest_mismatch')),
  );
}

/** A file from before there were sums has nothing to be held against. */
function isSound({ sum, ...document }: KeyringDocument, sha256: Sha256): boolean {
  return sum === undefined || sum === sha256(bytesOf(document));
}

function bytesOf(document: KeyringDocument): CanonicalBytes {
  const bytes = canonicalBytes(document);
  assert(bytes.isOk(), 'a keyring is JSON');
  return bytes.value;
}
