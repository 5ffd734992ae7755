import { err, ok, type Result } from 'neverthrow';
import { type CanonicalBytes, ownJsonBytes } from '../json/canonical-json.ts';
import { toBase64Url } from '../text/binary-text.ts';
import { joinBytes } from '../text/utf8.ts';
import type { Attestation } from '../views/attestations.ts';
import {
  APPROVAL_NAMESPACE,
  type Approver,
  type ApproverKey,
  COORDINATE_BYTES,
  type Curve,
  isPasskey,
  type KeyMaterial,
  PASSKEY_SITE,
  positive,
  type RawHash,
  readKey,
} from './approver-list.ts';
import { asciiBytes, fromBase64, type WireReader, wireBlock, wireNumber, wireReader } from './ssh-wire.ts';

/** The cryptography that checking a signature needs. */
export type SignatureTools = {
  readonly hash: RawHash;
  /** Whether a signature over bytes is of a key. Two numbers of a signature on a curve follow each other. */
  readonly isSignedBy: (
    key: KeyMaterial,
    signed: { readonly data: Uint8Array; readonly signature: Uint8Array; readonly hash: SignatureHash },
  ) => boolean;
};

export type SignatureHash = 'sha256' | 'sha384' | 'sha512';

export type SignatureRefusal =
  /** It is not a signature of a kind that we know, made for approvals. */
  | { readonly code: 'signature_malformed' }
  /** It is of another text, or somebody changed it. */
  | { readonly code: 'signature_wrong' }
  /** The hardware says that nobody touched it, or that it did not check who did. */
  | { readonly code: 'nobody_present' };

/**
 * Exactly what an approver signs: the draft by its digest, what was decided, and the id of this one decision. The digest
 * names the run, the place in it and the files, so a signature counts nowhere else.
 */
export function approvalText({
  attestationId,
  subject,
  statement,
}: Pick<Attestation['data'], 'attestationId' | 'subject' | 'statement'>): CanonicalBytes {
  return ownJsonBytes({ v: 1, attestationId, subject, statement });
}

/** Who of a list signed an answer. What the record says about the key must be what the signature holds. */
export function approverOf(
  answer: Attestation['data'],
  approvers: readonly Approver[],
  tools: SignatureTools,
): Result<Approver, SignatureRefusal | NotAnApprover> {
  const { signature } = answer;
  if (signature === undefined) return err({ code: 'not_signed' });
  return signerOf(approvalText(answer), signature.sshsig, tools).andThen((key) => {
    const found = approvers.find(({ key: { fingerprint } }) => fingerprint === key.fingerprint);
    if (signature.fingerprint !== key.fingerprint) return err({ code: 'signature_malformed' as const });
    return found === undefined ? err({ code: 'approver_unknown', fingerprint: key.fingerprint } as const) : ok(found);
  });
}

/** Nobody signed, or a key that is not in the list. */
export type NotAnApprover =
  | { readonly code: 'not_signed' }
  | { readonly code: 'approver_unknown'; readonly fingerprint: string };

/** What made a signature with a key. */
export function signatureKind(key: ApproverKey): NonNullable<Attestation['data']['signature']>['kind'] {
  if (isPasskey(key)) return 'passkey';
  return key.application === undefined ? 'ssh_key' : 'security_key';
}

const MAGIC = asciiBytes('SSHSIG');
const FORMAT_VERSION = 1;
const TEXT_HASH = 'sha512';

/** What a key signs for a text: the format of `ssh-keygen -Y sign`. A passkey signs it as its challenge. */
export function signedData(text: Uint8Array, hash: RawHash, algorithm: 'sha256' | 'sha512' = TEXT_HASH): Uint8Array {
  const names = [APPROVAL_NAMESPACE, '', algorithm].map((name) => wireBlock(name));
  return joinBytes(MAGIC, ...names, wireBlock(hash(algorithm, text)));
}

/** The key that signed a text; a refusal if the signature does not show that. Whose key it is, a list says. */
export function signerOf(
  text: Uint8Array,
  encoded: string,
  { hash, isSignedBy }: SignatureTools,
): Result<ApproverKey, SignatureRefusal> {
  const parts = readSignature(encoded, hash);
  if (parts === undefined) return err({ code: 'signature_malformed' });
  const { key, type, reader, algorithm } = parts;
  const made = readMade(key, { type, reader }, { data: signedData(text, hash, algorithm), hash });
  if (made === undefined || !reader.isAtEnd()) return err({ code: 'signature_malformed' });
  if (!isSignedBy(key.material, made)) return err({ code: 'signature_wrong' });
  const needed = isPasskey(key) ? USER_PRESENT | USER_VERIFIED : USER_PRESENT;
  if (made.flags !== undefined && (made.flags & needed) !== needed) return err({ code: 'nobody_present' });
  return ok(key);
}

/** Bits of what hardware says about the person. */
const USER_PRESENT = 1;
const USER_VERIFIED = 4;

type SignatureParts = {
  readonly key: ApproverKey;
  readonly type: string;
  readonly reader: WireReader;
  readonly algorithm: 'sha256' | 'sha512';
};

function readSignature(encoded: string, hash: RawHash): SignatureParts | undefined {
  const reader = wireReader(fromBase64(encoded) ?? new Uint8Array());
  const isMarked = isSame(reader.bytes(MAGIC.length), MAGIC) && reader.number() === FORMAT_VERSION;
  const key = isMarked ? readKey(reader.block() ?? new Uint8Array(), hash) : undefined;
  if (key === undefined || reader.text() !== APPROVAL_NAMESPACE || reader.text() !== '') return undefined;
  const algorithm = reader.text();
  const signature = reader.block();
  if ((algorithm !== 'sha256' && algorithm !== 'sha512') || signature === undefined || !reader.isAtEnd())
    return undefined;
  const inner = wireReader(signature);
  return { key, algorithm, type: inner.text() ?? '', reader: inner };
}

type Made = {
  readonly data: Uint8Array;
  readonly signature: Uint8Array;
  readonly hash: SignatureHash;
  /** What hardware says about the person. */
  readonly flags?: number;
};

/** What was really signed, and how: hardware adds what it knows of the person, and a browser wraps it once more. */
function readMade(
  key: ApproverKey,
  { type, reader }: { readonly type: string; readonly reader: WireReader },
  { data, hash }: { readonly data: Uint8Array; readonly hash: RawHash },
): Made | undefined {
  const { material, application } = key;
  if (material.kind === 'rsa') {
    const algorithm = ({ 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' } as const)[type];
    const signature = reader.block();
    return algorithm && signature && { data, signature, hash: algorithm };
  }
  const isBrowser = isPasskey(key);
  if (type !== (isBrowser ? `webauthn-${key.type}` : key.type)) return undefined;
  const signature = material.kind === 'ed25519' ? reader.block() : curveSignature(reader.block(), material.curve);
  if (signature === undefined) return undefined;
  const curveHash = material.kind === 'ecdsa' ? CURVE_HASHES[material.curve] : 'sha512';
  if (application === undefined) return { data, signature, hash: curveHash };
  // A key of another program on the same device signs for another name.
  if (!isBrowser && !application.startsWith('ssh:')) return undefined;
  const [flags, counter] = [reader.byte(), reader.number()];
  if (flags === undefined || counter === undefined) return undefined;
  const extra = isBrowser ? browserData(reader, data) : { extensions: new Uint8Array(), client: data };
  if (extra === undefined) return undefined;
  const head = joinBytes(hash('sha256', asciiBytes(application)), Uint8Array.of(flags), wireNumber(counter));
  return { data: joinBytes(head, extra.extensions, hash('sha256', extra.client)), signature, hash: curveHash, flags };
}

const CURVE_HASHES: { readonly [curve in Curve]: SignatureHash } = {
  nistp256: 'sha256',
  nistp384: 'sha384',
  nistp521: 'sha512',
};

/** The two numbers of a signature in a fixed width, one after the other. */
function curveSignature(block: Uint8Array | undefined, curve: Curve): Uint8Array | undefined {
  const reader = wireReader(block ?? new Uint8Array());
  const width = COORDINATE_BYTES[curve];
  const numbers = [reader.block(), reader.block()].map((number) => number && positive(number));
  if (!reader.isAtEnd() || numbers.some((number) => number === undefined || number.length > width)) return undefined;
  return joinBytes(
    ...numbers.map((number = new Uint8Array()) => joinBytes(new Uint8Array(width - number.length), number)),
  );
}

/** What a browser signed: its own text, which must name our challenge, and a page of the console. */
function browserData(
  reader: WireReader,
  challenge: Uint8Array,
): { readonly extensions: Uint8Array; readonly client: Uint8Array } | undefined {
  const [origin, client, extensions] = [reader.text(), reader.block(), reader.block()];
  if (origin === undefined || client === undefined || extensions === undefined || !isConsole(origin)) return undefined;
  const text = [...client].map((byte) => String.fromCharCode(byte)).join('');
  const start = clientDataStart(challenge, origin);
  const isOurs = text.startsWith(start) && /^(?:,.*)?\}$/s.test(text.slice(start.length));
  return isOurs && !text.includes('"crossOrigin":true') ? { extensions, client } : undefined;
}

function isConsole(origin: string): boolean {
  return new RegExp(`^http://${PASSKEY_SITE}:[0-9]{1,5}$`).test(origin);
}

/** How every browser begins the text that it signs. */
function clientDataStart(challenge: Uint8Array, origin: string): string {
  return `{"type":"webauthn.get","challenge":"${toBase64Url(challenge)}","origin":"${origin}"`;
}

/** What a browser gives for a signature with a passkey. */
export type PasskeyAssertion = {
  readonly authenticatorData: Uint8Array;
  readonly clientData: Uint8Array;
  /** In DER. */
  readonly signature: Uint8Array;
  readonly origin: string;
};

/** A signature with a passkey in the format of `ssh-keygen -Y sign`, so that one program checks all of them. */
export function passkeySignature({ blob }: ApproverKey, given: PasskeyAssertion): Uint8Array | undefined {
  const { authenticatorData, clientData, signature, origin } = given;
  const numbers = derNumbers(signature);
  if (numbers === undefined || authenticatorData.length < SITE_BYTES + 5) return undefined;
  const made = joinBytes(
    wireBlock('webauthn-sk-ecdsa-sha2-nistp256@openssh.com'),
    wireBlock(joinBytes(...numbers.map((number) => wireBlock(number)))),
    authenticatorData.subarray(SITE_BYTES, SITE_BYTES + 5),
    wireBlock(origin),
    wireBlock(clientData),
    wireBlock(authenticatorData.subarray(SITE_BYTES + 5)),
  );
  const names = [APPROVAL_NAMESPACE, '', TEXT_HASH].map((name) => wireBlock(name));
  return joinBytes(MAGIC, wireNumber(FORMAT_VERSION), wireBlock(blob), ...names, wireBlock(made));
}

/** The digest of the site, in front of flags and counter. */
const SITE_BYTES = 32;
const DER_SEQUENCE = 0x30;
const DER_INTEGER = 0x02;

/** The two numbers of a signature on the curve P-256. They are short, so each length is one byte. */
function derNumbers(der: Uint8Array): readonly Uint8Array[] | undefined {
  const reader = wireReader(der);
  if (reader.byte() !== DER_SEQUENCE || reader.byte() !== der.length - 2) return undefined;
  const numbers = [1, 2].map(() => (reader.byte() === DER_INTEGER ? reader.bytes(reader.byte() ?? 0) : undefined));
  return reader.isAtEnd() ? numbers.flatMap((number) => (number === undefined ? [] : [number])) : undefined;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a?.length === b.length && a.every((byte, i) => byte === b[i]);
}
