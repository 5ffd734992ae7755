import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import type { PublicKey, StoreKey } from '../app/ports/keyring-store.ts';
import type { AnswerIds, Clock, Hasher, Ids } from '../app/ports/system-services.ts';
import { digestHex, type Sha256Digest } from '../core/json/canonical-json.ts';
import { AttestationId, ID_BYTES, RunId, SessionId } from '../core/log/ids.ts';
import type { Keyring, SigningKey } from '../core/token/keyring.ts';

export const nodeHasher: Hasher = {
  sha256: (bytes) => `sha256:${hash('sha256', bytes)}`,
  hmacSha256: (key, message) => createHmac('sha256', key).update(message).digest(),
};

const TIME_BYTES = 6;

/** Ids from the system's random source. A session id starts with the time, so that listings sort by age. */
export function randomIds(clock: Clock): Ids {
  return {
    session: () => {
      const bits = randomBytes(ID_BYTES);
      bits.writeUIntBE(clock.nowMs(), 0, TIME_BYTES);
      return SessionId.of(bits);
    },
    run: () => RunId.of(randomBytes(ID_BYTES)),
  };
}

/** A UUID of version 7 (RFC 9562): it begins with the time, and the rest is random. */
export function timedUuid(clock: Clock): string {
  const bits = randomBytes(16);
  bits.writeUIntBE(clock.nowMs(), 0, TIME_BYTES);
  bits.writeUInt8((bits.readUInt8(6) & 0x0f) | 0x70, 6);
  bits.writeUInt8((bits.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bits.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A launch is named at random when it is first asked for. */
export const answerIds: AnswerIds = {
  attestation: () => AttestationId.of(randomBytes(ID_BYTES)),
  launch: randomBytes(8).toString('hex'),
};

/** A clock before 1970 is wrong, and what is recorded has no times before that. */
export const systemClock: Clock = { nowMs: () => Math.max(0, Date.now()) };

/** Makes the Ed25519 key of a store from a key of its keyring, so that both are sealed and rotated together. */
const STORE_KEY_LABEL = 'workrail store signing key v1';
/** The start of a PKCS #8 document with an Ed25519 key (RFC 8410); the 32 bytes of the key follow. */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;
/** Hides withheld events: the same event of a session has the same salt as long as the key is the same. */
const SALT_LABEL = 'workrail passport salts v1';

const storeKeys = new WeakMap<SigningKey, StoreKey>();

/** Makes the key once: that takes longer than a signature. */
export function storeKeyOf(key: SigningKey): StoreKey {
  const known = storeKeys.get(key);
  if (known !== undefined) return known;
  const seed = Buffer.from(hkdfSync('sha256', key, '', STORE_KEY_LABEL, SEED_BYTES));
  const privateKey = createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = publicKeyOf(createPublicKey(privateKey));
  const { keyid } = publicKey;
  const salts = Buffer.from(hkdfSync('sha256', key, '', SALT_LABEL, SEED_BYTES));
  const signBytes = (message: Uint8Array) => sign(null, message, privateKey).toString('base64');
  const made = {
    keyid,
    publicKey,
    signBytes,
    saltOf: (event: string) => createHmac('sha256', salts).update(event).digest(),
    sign: (digest: Sha256Digest) => ({ keyid, sig: signBytes(digestBytesOf(digest)) }),
  };
  storeKeys.set(key, made);
  return made;
}

/** The key that signs now; `undefined` before a store has keys. */
export function currentStoreKey(keyring: Keyring | undefined): StoreKey | undefined {
  return keyring && storeKeyOf(keyring.current);
}

const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/** The Ed25519 public keys in a text of PEM blocks. */
export function parsePublicKeys(text: string): readonly PublicKey[] {
  return (text.match(PEM) ?? []).flatMap((pem) => {
    try {
      const key = createPublicKey({ key: pem, format: 'pem' });
      return key.asymmetricKeyType === 'ed25519' ? [publicKeyOf(key)] : [];
    } catch {
      return [];
    }
  });
}

function publicKeyOf(key: KeyObject): PublicKey {
  return {
    keyid: hash('sha256', key.export({ type: 'spki', format: 'der' })),
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    isSignedBy: (message, sig) => verify(null, message, key, Buffer.from(sig, 'base64')),
  };
}

/** A digest as the 32 bytes that are signed. */
export function digestBytesOf(digest: Sha256Digest): Uint8Array {
  return Buffer.from(digestHex(digest), 'hex');
}
