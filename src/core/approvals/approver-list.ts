import { err, ok, type Result } from 'neverthrow';
import { joinBytes } from '../text/utf8.ts';
import { asciiBytes, fromBase64, toBase64, type WireReader, wireBlock, wireReader } from './ssh-wire.ts';

/** What an approver signs is marked with this name, so that no other signature of the key can be taken for it. */
export const APPROVAL_NAMESPACE = 'workrail-approval';

/** A passkey belongs to the page of the console, whatever its port. */
export const PASSKEY_SITE = 'localhost';

/** Somebody whose signature counts. */
export type Approver = {
  readonly name: string;
  readonly key: ApproverKey;
  readonly comment: string;
  /** By what a browser finds the passkey. */
  readonly credentialId?: string;
};

export type ApproverKey = {
  /** The key as SSH writes it; a signature contains the same bytes. */
  readonly blob: Uint8Array;
  /** `SHA256:…`, as `ssh-keygen -l` shows it. */
  readonly fingerprint: string;
  readonly type: KeyAlgorithm;
  /** The name that a hardware key signs for: `ssh:…`, or the site of a passkey. */
  readonly application?: string;
  readonly material: KeyMaterial;
};

export type KeyMaterial =
  | { readonly kind: 'ed25519'; readonly point: Uint8Array }
  | { readonly kind: 'ecdsa'; readonly curve: Curve; readonly point: Uint8Array }
  | { readonly kind: 'rsa'; readonly modulus: Uint8Array; readonly exponent: Uint8Array };

export type Curve = 'nistp256' | 'nistp384' | 'nistp521';

const KEY_TYPES = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
] as const;
type KeyAlgorithm = (typeof KEY_TYPES)[number];

/** Hashes bytes as they are; core has no cryptography of its own. */
export type RawHash = (algorithm: 'sha256' | 'sha512', bytes: Uint8Array) => Uint8Array;

export type ApproverList = {
  readonly approvers: readonly Approver[];
  /** What does not count, in sentences with the number of the line. */
  readonly problems: readonly string[];
};

const LINES_MAX = 500;

/**
 * Reads a list in the format that `ssh-keygen -Y verify` calls allowed signers: a name, options, and a public key on each
 * line. A line with an option that we do not know does not count, because the option may restrict the key.
 */
export function parseApprovers(text: string, hash: RawHash): ApproverList {
  const lines = text.split('\n').map((line) => line.trim());
  const approvers: Approver[] = [];
  const problems: string[] = [];
  if (lines.length > LINES_MAX) problems.push(`Only the first ${LINES_MAX} lines are read.`);
  for (const [i, line] of lines.slice(0, LINES_MAX).entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const read = parseLine(line, hash);
    if (read.isErr()) problems.push(`Line ${i + 1} does not count: ${read.error}`);
    else if (approvers.every(({ key }) => key.fingerprint !== read.value.key.fingerprint))
      approvers.push({ ...read.value, name: knownName(approvers, read.value.name) });
    else problems.push(`Line ${i + 1} does not count: an earlier line has the same key.`);
  }
  return { approvers, problems };
}

/** Names that differ only in capital letters are one person, who must not count as two. */
function knownName(approvers: readonly Approver[], name: string): string {
  return approvers.find((known) => known.name.toLowerCase() === name.toLowerCase())?.name ?? name;
}

const NAME = '[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}';
const LINE = new RegExp(`^(${NAME})\\s+(?:([a-z-]+="[^"]*")\\s+)?(\\S+)\\s+([A-Za-z0-9+/=]+)(?:\\s+(.*))?$`);

/** A name of an approver: one person, so that two keys of one person are not taken for two. */
export function isApproverName(name: string): boolean {
  return new RegExp(`^${NAME}$`).test(name);
}

function parseLine(line: string, hash: RawHash): Result<Approver, string> {
  const [, name = '', option, type = '', encoded = '', comment = ''] = LINE.exec(line) ?? [];
  if (name === '') return err('it must be a name, a key type and a key.');
  if (option !== undefined && option !== NAMESPACES) return err(`the option ${option} is not supported here.`);
  return parseKey({ type, encoded }, hash).map((key) => ({ name, key, ...commentParts(comment) }));
}

const NAMESPACES = `namespaces="${APPROVAL_NAMESPACE}"`;
const CREDENTIAL = /^passkey:([A-Za-z0-9_-]{1,1400})(?:\s+|$)/;

function commentParts(comment: string): Pick<Approver, 'comment' | 'credentialId'> {
  const [whole = '', credentialId] = CREDENTIAL.exec(comment) ?? [];
  return { comment: comment.slice(whole.length), ...(credentialId === undefined ? {} : { credentialId }) };
}

/** The key in the text of a public key file, and the comment after it. */
export function parsePublicKey(
  text: string,
  hash: RawHash,
): Result<{ readonly key: ApproverKey; readonly comment: string }, string> {
  const [type = '', encoded = '', ...words] = text.trim().split(/\s+/);
  return parseKey({ type, encoded }, hash).map((key) => ({ key, comment: words.join(' ') }));
}

function parseKey(
  { type, encoded }: { readonly type: string; readonly encoded: string },
  hash: RawHash,
): Result<ApproverKey, string> {
  if (type.includes('PRIVATE') || encoded.includes('PRIVATE'))
    return err('this is a private key. Give the public key.');
  if (!isKeyType(type))
    return err(`the key type "${type.slice(0, 60)}" is not supported. Use ${KEY_TYPES.join(', ')}.`);
  const blob = fromBase64(encoded);
  const key = blob === undefined ? undefined : readKey(blob, hash);
  if (key === undefined || key.type !== type) return err('the key is damaged.');
  const bits = key.material.kind === 'rsa' ? 8 * key.material.modulus.length : undefined;
  if (bits !== undefined && bits < RSA_BITS_MIN) return err(`an RSA key needs at least ${RSA_BITS_MIN} bits.`);
  return ok(key);
}

const RSA_BITS_MIN = 2_048;

function isKeyType(type: string): type is KeyAlgorithm {
  return KEY_TYPES.some((known) => known === type);
}

/** The key in the bytes that a list or a signature holds; `undefined` if it is not exactly one of the known types. */
export function readKey(blob: Uint8Array, hash: RawHash): ApproverKey | undefined {
  const reader = wireReader(blob);
  const type = reader.text() ?? '';
  if (!isKeyType(type)) return undefined;
  const material = readMaterial(type, reader);
  const application = type.startsWith('sk-') ? reader.text() : undefined;
  const isWhole = material !== undefined && reader.isAtEnd() && (application !== undefined || !type.startsWith('sk-'));
  if (!isWhole) return undefined;
  const fingerprint = `SHA256:${toBase64(hash('sha256', blob)).replace(/=+$/, '')}`;
  return { blob, fingerprint, type, material, ...(application === undefined ? {} : { application }) };
}

function readMaterial(type: KeyAlgorithm, reader: WireReader): KeyMaterial | undefined {
  if (type === 'ssh-rsa') {
    const [exponent, modulus] = [reader.block(), reader.block()];
    return exponent && modulus && { kind: 'rsa', exponent: positive(exponent), modulus: positive(modulus) };
  }
  if (type === 'ssh-ed25519' || type === 'sk-ssh-ed25519@openssh.com') {
    const point = reader.block();
    return point?.length === 32 ? { kind: 'ed25519', point } : undefined;
  }
  const [named, point] = [reader.text(), reader.block()];
  const curve = CURVES.find((one) => type.includes(one));
  if (curve === undefined || curve !== named || point?.[0] !== UNCOMPRESSED) return undefined;
  return point.length === 2 * COORDINATE_BYTES[curve] + 1 ? { kind: 'ecdsa', curve, point } : undefined;
}

const CURVES = ['nistp256', 'nistp384', 'nistp521'] as const;
export const COORDINATE_BYTES: { readonly [curve in Curve]: number } = { nistp256: 32, nistp384: 48, nistp521: 66 };
const UNCOMPRESSED = 4;

/** A number without the zero in front that marks it as positive. */
export function positive(number: Uint8Array): Uint8Array {
  return number[0] === 0 ? number.subarray(1) : number;
}

/** The line of a list for a key. The comment may hold anything that somebody wrote, but no line break. */
export function approverLine({
  name,
  key,
  comment,
  credentialId,
}: Omit<Approver, 'key'> & Pick<Approver, 'key'>): string {
  const words = [credentialId === undefined ? '' : `passkey:${credentialId}`, comment.replaceAll(/[\p{C}\s]+/gu, ' ')];
  return [name, NAMESPACES, key.type, toBase64(key.blob), ...words.filter((word) => word.trim() !== '')].join(' ');
}

/** What the header of a point on the curve P-256 looks like in the format in which browsers give a public key. */
const P256_HEADER = '3059301306072a8648ce3d020106082a8648ce3d030107034200';

/** The public key of a passkey, from the bytes that a browser gives; `undefined` unless it is a key on the curve P-256. */
export function passkeyKey(spki: Uint8Array, hash: RawHash): ApproverKey | undefined {
  const header = [...spki.subarray(0, P256_HEADER.length / 2)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  if (header !== P256_HEADER) return undefined;
  const point = spki.subarray(P256_HEADER.length / 2);
  const type = 'sk-ecdsa-sha2-nistp256@openssh.com';
  return readKey(
    joinBytes(wireBlock(type), wireBlock('nistp256'), wireBlock(point), wireBlock(asciiBytes(PASSKEY_SITE))),
    hash,
  );
}

/** Whether a key is a passkey of the console. */
export function isPasskey({ application }: Pick<ApproverKey, 'application'>): boolean {
  return application === PASSKEY_SITE;
}

/** The keys of a list that another list has too; without another list, all of them. */
export function narrowedBy(own: readonly Approver[], other: readonly Approver[] | undefined): readonly Approver[] {
  if (other === undefined) return own;
  const known = new Set(other.map(({ key }) => key.fingerprint));
  return own.filter(({ key }) => known.has(key.fingerprint));
}
