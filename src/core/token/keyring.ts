import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import { assert } from '../assert.ts';
import { parseDocument, type SchemaRefusal } from '../log/document-schema.ts';
import { plainDigestSchema } from '../log/ids.ts';
import { fromBase64Url, toBase64Url } from '../text/binary-text.ts';

const KEY_BYTES = 32;
const KEYRING_VERSION = 1;

declare const signing: unique symbol;

/** Exactly 32 random bytes, drawn outside core. */
export type SigningKey = Uint8Array & { readonly [signing]: true };

/** The active keys: one signs, both verify. */
export type Keyring = { readonly current: SigningKey; readonly previous?: SigningKey };

/** HMAC-SHA256, passed in from outside: core has no cryptography. */
export type HmacSha256 = (key: Uint8Array, message: Uint8Array) => Uint8Array;

/** What signing and verifying need. */
export type TokenKeys = { readonly keyring: Keyring; readonly hmac: HmacSha256 };

/** What verifying needs. Without a keyring no key was ever made, and no token is genuine. */
export type VerifyingKeys = { readonly keyring: Keyring | undefined; readonly hmac: HmacSha256 };

/** What seals keyrings outside of the machine that uses them. */
export type MasterKeys = {
  readonly masterKey: Uint8Array;
  /** These open what was sealed before the master key was replaced. */
  readonly previousKeys: readonly Uint8Array[];
};

const HEX_KEYS = /^[0-9a-f]{64}(?:\s+[0-9a-f]{64}){0,3}$/i;

/** The master keys in the text of a file: 64 hex digits in a line, the one that seals first. */
export function masterKeysIn(text: string): MasterKeys | undefined {
  const trimmed = text.trim();
  if (!HEX_KEYS.test(trimmed)) return undefined;
  const [masterKey, ...previousKeys] = trimmed
    .split(/\s+/)
    .map((line) => Uint8Array.from(line.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
  return masterKey === undefined ? undefined : { masterKey, previousKeys };
}

export function signingKey(bytes: Uint8Array): SigningKey {
  assert(bytes.length === KEY_BYTES, `a signing key has ${KEY_BYTES} bytes, not ${bytes.length}`);
  return bytes as SigningKey;
}

/** In the order of verification. */
export function activeKeys(keyring: Keyring | undefined): readonly SigningKey[] {
  if (keyring === undefined) return [];
  const { current, previous } = keyring;
  return previous === undefined ? [current] : [current, previous];
}

/** Makes a new key current. Tokens of the previous key still verify until the next rotation. */
export function rotate(keyring: Keyring, freshKey: SigningKey): Keyring {
  const isFresh = activeKeys(keyring).every((key) => !constantTimeEqual(key, freshKey));
  assert(isFresh, 'a fresh key is none of the active ones');
  return { current: freshKey, previous: keyring.current };
}

const storedKeySchema = z.strictObject({
  alg: z.literal('hmac_sha256'),
  // 32 bytes are 42 characters and one more whose last two bits are unused, hence zero.
  keyBase64Url: z.string().regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/),
});
type StoredKey = z.infer<typeof storedKeySchema>;

/** `keys/keyring.json`. Strict: a third key must be refused, not lost with the next rotation. */
export const keyringDocumentSchema = z.strictObject({
  v: z.literal(KEYRING_VERSION),
  current: storedKeySchema,
  previous: storedKeySchema.nullable(),
  /** Digest of all other fields as canonical JSON, because a key with a flipped bit is still a valid key. Old files have none. */
  sum: plainDigestSchema.exactOptional(),
});
export type KeyringDocument = z.infer<typeof keyringDocumentSchema>;

export type KeyringRefusal = { readonly code: 'unknown_version'; readonly version: unknown } | SchemaRefusal;

export function parseKeyring(value: unknown): Result<Keyring, KeyringRefusal> {
  const envelope = parseDocument(z.object({ v: z.unknown() }), value);
  if (envelope.isErr()) return err(envelope.error);
  if (envelope.value.v !== KEYRING_VERSION) return err({ code: 'unknown_version', version: envelope.value.v });
  return parseDocument(keyringDocumentSchema, value).map(({ current, previous }) => ({
    current: readKey(current),
    ...(previous === null ? {} : { previous: readKey(previous) }),
  }));
}

/** A keyring as it is stored. */
export function keyringDocument({ current, previous }: Keyring): KeyringDocument {
  return {
    v: KEYRING_VERSION,
    current: storedKey(current),
    previous: previous === undefined ? null : storedKey(previous),
  };
}

function readKey({ keyBase64Url }: StoredKey): SigningKey {
  const bytes = fromBase64Url(keyBase64Url);
  assert(bytes !== undefined, 'the schema lets only canonical base64url through');
  return signingKey(bytes);
}

function storedKey(key: SigningKey): StoredKey {
  return { alg: 'hmac_sha256', keyBase64Url: toBase64Url(key) };
}

/** Whether two keyrings hold the same keys in the same places. */
export function isSameKeyring(a: Keyring, b: Keyring): boolean {
  const [keys, others] = [activeKeys(a), activeKeys(b)];
  return keys.length === others.length && keys.every((key, i) => constantTimeEqual(key, others[i] ?? new Uint8Array()));
}

/** Compares without stopping at the first difference, so that timing does not reveal how much of a guess was right. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}
