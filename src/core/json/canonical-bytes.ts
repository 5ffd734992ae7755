import { ok, type Result } from 'neverthrow';
import { encodeUtf8 } from '../text/utf8.ts';
import { canonicalJson, type JsonRefusal } from './canonical-json.ts';

declare const canonical: unique symbol;

/** Bytes that may be hashed. Only this module makes them, so no other string or bytes can be hashed by mistake. */
export type CanonicalBytes = Uint8Array & { readonly [canonical]: true };

/** SHA-256 as `sha256:` and 64 hex digits. */
export type Sha256Digest = `sha256:${string}`;

/** The hash function, which the caller passes in: core contains no cryptography. */
export type Sha256 = (bytes: CanonicalBytes) => Sha256Digest;

export const SHA256_DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;

/** The hex digits of a digest, for file names and dedupe keys, where a colon is not always allowed. */
export function digestHex(digest: string): string {
  return digest.slice('sha256:'.length);
}

export function canonicalBytes(value: unknown): Result<CanonicalBytes, JsonRefusal> {
  return canonicalJson(value).map(brand);
}

/** One JSON value per line, each ending in a newline: the bytes of a segment file. */
export function canonicalLines(values: readonly unknown[]): Result<CanonicalBytes, JsonRefusal> {
  let text = '';
  for (const value of values) {
    const line = canonicalJson(value);
    if (line.isErr()) return line.map(brand);
    text += `${line.value}\n`;
  }
  return ok(brand(text));
}

/** A value together with the digest before it, so that neither can be replaced unnoticed. */
export function linkedBytes(previous: Sha256Digest, value: unknown): Result<CanonicalBytes, JsonRefusal> {
  return canonicalJson(value).map((text) => brand(`${previous}\n${text}`));
}

/** The start of the hash chain of a session. */
export function genesisBytes(sessionId: string): CanonicalBytes {
  return brand(`workrail:${sessionId}`);
}

function brand(text: string): CanonicalBytes {
  return encodeUtf8(text) as CanonicalBytes;
}
