import * as z from 'zod';
import { COMMENT_BYTES_MAX } from '../log/budgets.ts';
import { textSchema } from '../log/document-schema.ts';
import { SIGNATURE_KINDS } from '../log/events/attestation-events.ts';
import { AttestationId, fingerprintSchema } from '../log/ids.ts';

/** Bytes that a browser gives, in base64url. */
const bytes = z
  .string()
  .max(16_384)
  .regex(/^[A-Za-z0-9_-]+$/);

function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** What a person decided about a draft. */
const decided = {
  /** Of the draft that the person saw. If it changed meanwhile, nothing is recorded. */
  digest: z.string().max(128),
  decision: z.enum(['approved', 'rejected', 'answered']),
  comment: textSchema(COMMENT_BYTES_MAX).exactOptional(),
  /** For `answered`. A number that JSON cannot hold exactly would be another one. */
  value: z.union([textSchema(COMMENT_BYTES_MAX), z.boolean(), z.number().refine(isExact)]).exactOptional(),
};

export const APPROVAL_INPUTS = {
  /** A passkey that the browser has just made for this page. */
  addPasskey: z.strictObject({
    name: z.string().max(100),
    comment: z.string().max(200),
    credentialId: bytes,
    /** The public key as the browser gives it. */
    publicKey: bytes,
  }),
  /** What a passkey would sign. */
  challenge: z.strictObject(decided),
  answer: z.strictObject({
    ...decided,
    /** The signature of a passkey over a challenge that was given out for exactly this answer. */
    passkey: z
      .strictObject({
        attestationId: AttestationId.schema,
        credentialId: bytes,
        authenticatorData: bytes,
        clientData: bytes,
        signature: bytes,
      })
      .exactOptional(),
  }),
} as const;

export const APPROVAL_REPLIES = {
  approvers: z.strictObject({
    /** The user's own list. */
    file: z.string(),
    approvers: z.array(
      z.strictObject({
        name: z.string(),
        fingerprint: fingerprintSchema,
        kind: z.enum(SIGNATURE_KINDS),
        comment: z.string(),
      }),
    ),
    problems: z.array(z.string()),
  }),
  addPasskey: z.strictObject({ name: z.string(), fingerprint: fingerprintSchema }),
  challenge: z.strictObject({
    attestationId: AttestationId.schema,
    challenge: bytes,
    /** By what the browser finds the passkeys of approvers. */
    credentialIds: z.array(bytes),
  }),
  answer: z.strictObject({ words: z.string() }),
} as const;

/** Whose signatures a draft waits for. */
export const signingShape = z.strictObject({
  approvers: z.array(z.string()),
  needed: z.int().min(1).max(2),
  /** Who has signed already. */
  signers: z.array(z.string()),
});
