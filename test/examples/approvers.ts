import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { knownApprovers, signatureTools } from '../../src/adapters/approvers.ts';
import {
  approvalText,
  passkeySignature,
  signatureKind,
  signedData,
} from '../../src/core/approvals/approval-signature.ts';
import { type Approver, type ApproverKey, passkeyKey, readKey } from '../../src/core/approvals/approver-list.ts';
import { toBase64, wireBlock, wireNumber } from '../../src/core/approvals/ssh-wire.ts';
import { joinBytes } from '../../src/core/text/utf8.ts';
import type { Attestation } from '../../src/core/views/attestations.ts';

type Signed = Pick<Attestation['data'], 'attestationId' | 'subject' | 'statement'>;
type Signature = NonNullable<Attestation['data']['signature']>;

/** Somebody with a key of their own. */
export type TestApprover = { readonly approver: Approver; readonly sign: (said: Signed) => Signature };

const { hash } = signatureTools;

/** An approver with an SSH key, which signs as `ssh-keygen -Y sign` does. */
export function sshApprover(name: string, comment = `${name}@desk`): TestApprover {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const key = keyOf(readKey(joinBytes(wireBlock('ssh-ed25519'), wireBlock(point)), hash));
  return signer({ name, key, comment }, (text) => {
    const made = sign(null, signedData(text, hash), privateKey);
    return sealed(key, joinBytes(wireBlock('ssh-ed25519'), wireBlock(made)));
  });
}

/** An approver with a key in hardware, which signs as `ssh-keygen -Y sign` does with such a key. */
export function hardwareApprover(name: string, { flags = 1, application = 'ssh:' } = {}): TestApprover {
  const type = 'sk-ssh-ed25519@openssh.com';
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const key = keyOf(readKey(joinBytes(wireBlock(type), wireBlock(point), wireBlock(application)), hash));
  return signer({ name, key, comment: 'key ring' }, (text) => {
    const said = joinBytes(Uint8Array.of(flags), wireNumber(3));
    const data = joinBytes(digest(application), said, digest(signedData(text, hash)));
    return sealed(key, joinBytes(wireBlock(type), wireBlock(sign(null, data, privateKey)), said));
  });
}

function digest(bytes: Uint8Array | string): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

function sealed(key: ApproverKey, made: Uint8Array): Uint8Array {
  const names = ['workrail-approval', '', 'sha512'].map((word) => wireBlock(word));
  return joinBytes(Buffer.from('SSHSIG'), wireNumber(1), wireBlock(key.blob), ...names, wireBlock(made));
}

/** What a browser and a passkey say about a signature. */
export type PasskeyTricks = {
  readonly origin?: string;
  readonly flags?: number;
  readonly site?: string;
  readonly type?: string;
  readonly rest?: string;
};

/** An approver with a passkey, which signs as a browser does. */
export function passkeyApprover(name: string, tricks: PasskeyTricks = {}): TestApprover {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = keyOf(passkeyKey(publicKey.export({ format: 'der', type: 'spki' }), hash));
  const approver = { name, key, comment: 'laptop', credentialId: 'Y3JlZA' };
  return signer(approver, (text) => browserSignature({ text, key, privateKey, tricks }));
}

function browserSignature({
  text,
  key,
  privateKey,
  tricks,
}: {
  readonly text: Uint8Array;
  readonly key: ApproverKey;
  readonly privateKey: KeyObject;
  readonly tricks: PasskeyTricks;
}): Uint8Array {
  const { origin = 'http://localhost:7434', flags = 5, site = 'localhost', type = 'webauthn.get', rest } = tricks;
  const challenge = Buffer.from(signedData(text, hash)).toString('base64url');
  const end = rest ?? ',"crossOrigin":false}';
  const clientData = Buffer.from(`{"type":"${type}","challenge":"${challenge}","origin":"${origin}"${end}`);
  const authenticatorData = joinBytes(digest(site), Uint8Array.of(flags), wireNumber(7));
  const signature = sign('sha256', joinBytes(authenticatorData, digest(clientData)), privateKey);
  return passkeySignature(key, { authenticatorData, clientData, signature, origin }) ?? new Uint8Array();
}

function keyOf(key: ApproverKey | undefined): ApproverKey {
  if (key === undefined) throw new Error('a key of this test is not one that we read');
  return key;
}

function signer(approver: Approver, make: (text: Uint8Array) => Uint8Array): TestApprover {
  const { key, name } = approver;
  return {
    approver,
    sign: (said) => ({
      kind: signatureKind(key),
      fingerprint: key.fingerprint,
      name,
      sshsig: toBase64(make(approvalText(said))),
    }),
  };
}

/** The approvers of a list, as the services give them. */
export const approversOf = (...people: readonly TestApprover[]) =>
  knownApprovers(people.map(({ approver }) => approver));
