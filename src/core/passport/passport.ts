import * as z from 'zod';
import type { BundleTools } from '../bundle/bundle-tools.ts';
import { ownJsonBytes, type Sha256Digest } from '../json/canonical-json.ts';
import { gradeSchema } from '../log/autonomy.ts';
import { jsonObjectSchema } from '../log/document-schema.ts';
import { ATTESTATION_CHANNELS } from '../log/events/attestation-events.ts';
import { GAP_SEVERITIES } from '../log/events/gap-events.ts';
import { plainDigestSchema, RunId, SessionId, stepIdSchema, workflowHashSchema, workflowIdSchema } from '../log/ids.ts';
import { logSignatureSchema, segmentClosedSchema, snapshotPinnedSchema } from '../log/manifest.ts';
import { bytesOfHex } from '../text/binary-text.ts';
import { encodeUtf8, joinBytes } from '../text/utf8.ts';
import { RUN_STATUSES } from '../views/run-status.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://workrail.dev/passport/v1';

/** The tools for bytes that bundles use too. */
export type PassportTools = Pick<BundleTools, 'sha256' | 'digestOf' | 'parseJson' | 'toBase64' | 'fromBase64'>;

const count = z.int().min(0);
const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
const gitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** What can be withheld by name. Single events can be withheld by number. */
export const WITHHELD_KINDS = ['notes', 'context', 'artifacts', 'workspace'] as const;
export type WithheldKind = (typeof WITHHELD_KINDS)[number];

/** The DSSE envelope: the whole file. */
export const envelopeSchema = z.strictObject({
  payload: z.string(),
  payloadType: z.literal(PAYLOAD_TYPE),
  signatures: z.tuple([logSignatureSchema.strict()]),
});

const subjectSchema = z.union([
  z.strictObject({ name: z.literal('commit'), digest: z.strictObject({ gitCommit: gitId }) }),
  z.strictObject({ name: z.literal('tree'), digest: z.strictObject({ gitTree: gitId }) }),
  /** The digest of all leaves: it stands for the session as it was exported. */
  z.strictObject({ name: SessionId.schema, digest: z.strictObject({ sha256: hex32 }) }),
]);

/** Whether something is about exactly the files of the subject. */
const CHECKED_TREES = ['subject', 'other', 'unknown'] as const;

const passportCheckSchema = z.strictObject({
  /** The event that recorded the step as done. */
  event: count,
  runId: RunId.schema,
  stepId: stepIdSchema,
  checkId: z.string(),
  minimum: gradeSchema,
  /** Null if nothing showed it. */
  grade: gradeSchema.nullable(),
  /** The event with the newest run of its command before that; null without one. */
  ran: count.nullable(),
  tree: z.enum(CHECKED_TREES),
  /** Whether it is on the line that the run ended on. */
  isOnLine: z.boolean(),
});

const passportApprovalSchema = z.strictObject({
  event: count,
  runId: RunId.schema,
  statement: z.enum(['approved', 'rejected', 'answered']),
  via: z.enum(ATTESTATION_CHANNELS),
  /** Whether the files that were approved are those of the subject. */
  tree: z.enum(CHECKED_TREES),
  /** The key that signed it, with the name that the list of approvers had for it. */
  signedBy: z.strictObject({ fingerprint: z.string(), name: z.string() }).exactOptional(),
  isOnLine: z.boolean(),
});

const appendSchema = z.union([
  /** The records of an append of which every event is shown. */
  z.strictObject({ record: segmentClosedSchema, pins: z.array(snapshotPinnedSchema) }),
  /** An append whose records are not shown, because they hold digests of something that is withheld. */
  z.strictObject({ firstEventIndex: count, lastEventIndex: count, chain: plainDigestSchema.exactOptional() }),
]);
export type PassportAppend = z.infer<typeof appendSchema>;

const shownEventSchema = z.strictObject({ salt: hex32, event: jsonObjectSchema });

export const predicateSchema = z.strictObject({
  v: z.literal(1),
  session: z.strictObject({ id: SessionId.schema, events: count }),
  made: z.strictObject({ at: z.string(), by: z.string() }),
  runs: z.array(
    z.strictObject({
      event: count,
      runId: RunId.schema,
      workflowId: workflowIdSchema,
      workflowHash: workflowHashSchema,
      status: z.enum(RUN_STATUSES),
    }),
  ),
  gaps: z.array(
    z.strictObject({
      event: count,
      runId: RunId.schema,
      severity: z.enum(GAP_SEVERITIES),
      reason: z.string(),
      isOpen: z.boolean(),
    }),
  ),
  checks: z.array(passportCheckSchema),
  approvals: z.array(passportApprovalSchema),
  log: z.strictObject({
    /** The chain value after the last event; absent where it would let somebody test guesses of what is withheld. */
    head: plainDigestSchema.exactOptional(),
    /** The first event from which on every append is signed by the store; null if the last one is not. */
    signedSince: count.nullable(),
    keyids: z.array(hex32),
    appends: z.array(appendSchema).min(1),
  }),
  /** One salted hash per event. */
  leaves: z.array(hex32).min(1),
  /** The events in order; null where one is withheld. */
  events: z.array(shownEventSchema.nullable()).min(1),
  withheld: z.strictObject({ kinds: z.array(z.enum(WITHHELD_KINDS)), events: z.array(count) }),
});
export type Predicate = z.infer<typeof predicateSchema>;

export const statementSchema = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(subjectSchema).min(1),
  predicateType: z.literal(PREDICATE_TYPE),
  predicate: predicateSchema,
});
export type PassportStatement = z.infer<typeof statementSchema>;

/** The commit and tree of a statement. */
export function subjectOf({ subject }: Pick<PassportStatement, 'subject'>) {
  let [commit, tree, root]: (string | undefined)[] = [];
  for (const { digest } of subject) {
    if ('gitCommit' in digest) commit = digest.gitCommit;
    else if ('gitTree' in digest) tree = digest.gitTree;
    else root = digest.sha256;
  }
  return { commit, tree, root };
}

/** The bytes that DSSE signs (pre-authentication encoding). */
export function preAuthEncoding(payload: Uint8Array): Uint8Array {
  return joinBytes(encodeUtf8(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload);
}

/** The hash of one event, which shows nothing of it without the salt. */
export function leafOf(salt: Uint8Array, event: unknown, { digestOf }: PassportTools): string {
  return hexOf(digestOf(joinBytes(salt, ownJsonBytes(event))));
}

/** One digest for all leaves. */
export function rootOfLeaves(leaves: readonly string[], { digestOf }: PassportTools): string {
  return hexOf(digestOf(joinBytes(...leaves.map(bytesOfHex))));
}

/** The tree digest that a check records when nothing differs from the commit. */
export function cleanTreeDigest(tree: string, { sha256 }: Pick<PassportTools, 'sha256'>): Sha256Digest {
  return sha256(ownJsonBytes({ v: 1, tree, status: '', files: [] }));
}

function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}
