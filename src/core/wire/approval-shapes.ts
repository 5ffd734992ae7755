import * as z from 'zod';
import { COMMENT_BYTES_MAX } from '../log/budgets.ts';
import { textSchema } from '../log/document-schema.ts';
import { SIGNATURE_KINDS } from '../log/events/attestation-events.ts';
import { AttestationId, fingerprintSchema, RunId, stepIdSchema } from '../log/ids.ts';

/** Bytes that a browser gives, in base64url. */
const bytes = z
  .string()
  .max(16_384)
  .regex(/^[A-Za-z0-9_-]+$/);

function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** Proof that a team server showed or gave this to the person, which any of its replicas can check. */
export const receiptShape = z.string().max(1_024);

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
    receipt: receiptShape.exactOptional(),
    /** The signature of a passkey over a challenge that was given out for exactly this answer. */
    passkey: z
      .strictObject({
        attestationId: AttestationId.schema,
        credentialId: bytes,
        authenticatorData: bytes,
        clientData: bytes,
        signature: bytes,
        receipt: receiptShape.exactOptional(),
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
    receipt: receiptShape.exactOptional(),
  }),
  answer: z.strictObject({ words: z.string() }),
  /** What is signed in a session and by whom, in words. */
  signatures: z.strictObject({
    log: z.strictObject({ isSigned: z.boolean(), words: z.string() }),
    /** The chain value after the last event, in 64 hex digits. */
    head: z.string().exactOptional(),
    /** Answers of people, oldest first. */
    answers: z.array(z.strictObject({ eventIndex: z.int().min(0), words: z.string(), isSigned: z.boolean() })),
  }),
} as const;

/** Whose signatures a draft waits for. */
export const signingShape = z.strictObject({
  approvers: z.array(z.string()),
  needed: z.int().min(1).max(2),
  /** Who has signed already. */
  signers: z.array(z.string()),
});

export const GATE_PROBLEMS = [
  /** A person or a setting let the run pass, and a gap says so; or the log was changed. */
  'nobody_answered',
  'not_signed',
  'approver_unknown',
  'signature_invalid',
  /** What was signed is not what the step handed in. */
  'another_draft',
  /** Fewer people signed than asked for. */
  'too_few',
] as const;

/** What signatures show about a step that needed a signed answer. */
export const gateShape = z.strictObject({
  runId: RunId.schema,
  stepId: stepIdSchema,
  title: z.string(),
  /** Who of the given list signed exactly what the step handed in. */
  signers: z.array(z.strictObject({ name: z.string(), fingerprint: fingerprintSchema })),
  /** Why that is not enough; absent if it is. */
  problem: z.enum(GATE_PROBLEMS).exactOptional(),
  /** The commit that was signed. */
  headSha: z.string().exactOptional(),
  /** The signatures cover no files of the workspace, although the step requires it. */
  filesCovered: z.literal(false).exactOptional(),
});
