import * as z from 'zod';
import { canonicalLength } from '../../json/canonical-json.ts';
import {
  ANSWER_BYTES_MAX,
  ARTIFACT_BYTES_MAX,
  CHECK_FOLDER_BYTES_MAX,
  CHECK_ID_BYTES_MAX,
  COMMENT_BYTES_MAX,
  LAUNCH_BYTES_MAX,
  PRINCIPAL_BYTES_MAX,
  RUN_COMMAND_BYTES_MAX,
  SIGNATURE_LENGTH_MAX,
} from '../budgets.ts';
import { jsonValueSchema, nonBlankSchema, textSchema } from '../document-schema.ts';
import {
  AttestationId,
  artifactDigestSchema,
  fingerprintSchema,
  loopPathSchema,
  plainDigestSchema,
  snapshotRefSchema,
  stepIdSchema,
} from '../ids.ts';
import { clientSchema, eventSchema, nodeScope } from './event-envelope.ts';

/** The channels on which an answer or a result can arrive. Arguments of a tool call reach none of them. */
export const ATTESTATION_CHANNELS = ['elicitation', 'terminal', 'console', 'team', 'ci', 'rehearsal'] as const;
export type AttestationChannel = (typeof ATTESTATION_CHANNELS)[number];

const commit = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** What a statement is about: one attempt exactly as it was shown, or a step at the place where it is pending. */
const subjectSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('attempt'),
    digest: plainDigestSchema,
    /** The files that the digest names, so that a signed approval can be checked again from the log alone. */
    workspace: z.object({ headSha: commit, treeDigest: plainDigestSchema }).optional(),
  }),
  z.object({
    kind: z.literal('step'),
    stepId: stepIdSchema,
    loopPath: loopPathSchema,
    snapshotRef: snapshotRefSchema,
  }),
]);

const answer = {
  comment: textSchema(COMMENT_BYTES_MAX).optional(),
  /** Whether all of what is approved was shown on the channel. */
  shown: z.enum(['whole', 'part']),
};

const count = z.int().min(0);

/** How a command ended, and what its report said about tests. */
const commandResult = {
  exitCode: z.int().min(0).nullable(),
  /** The signal that ended it, if one did. */
  signal: nonBlankSchema(32).optional(),
  timedOut: z.boolean(),
  durationMs: count,
  tests: z.object({ executed: count, failed: count }).optional(),
};

const statementSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('approved'), ...answer }),
  z.object({ kind: z.literal('rejected'), ...answer }),
  z.object({
    kind: z.literal('answered'),
    ...answer,
    value: jsonValueSchema.refine((value) => canonicalLength(value) <= ANSWER_BYTES_MAX).optional(),
  }),
  z.object({
    kind: z.literal('check'),
    checkId: nonBlankSchema(CHECK_ID_BYTES_MAX),
    commandDigest: plainDigestSchema,
    /** The command as it was run, with the values in it. Older records have only its digest. */
    command: textSchema(RUN_COMMAND_BYTES_MAX).optional(),
    ...commandResult,
    headSha: commit.optional(),
    treeDigest: plainDigestSchema.optional(),
    /** Where the command ran, below the top of the repository. The files around it say nothing about what it looked at. */
    folder: textSchema(CHECK_FOLDER_BYTES_MAX).optional(),
    /** How many files differed from that commit, if any. */
    uncommitted: count.optional(),
    /** Files of the workspace changed while the command ran. */
    changedDuring: z.literal(true).optional(),
    /** The last part of what the command printed. */
    log: z.object({ sha256: artifactDigestSchema, byteLength: count.max(ARTIFACT_BYTES_MAX) }).optional(),
    /** The same command on the base commit, with the tests of the work laid over it. */
    base: z
      .object({
        ...commandResult,
        sha: commit,
        /** Tests that the report names as failing on the base and as passing here. */
        fixed: count.optional(),
      })
      .optional(),
    /** Nobody was shown the command, which comes from a source that is not the user's own. */
    unseen: z.literal(true).optional(),
    /** The command was taken from a value that the agent set, and nobody confirmed it. */
    chosenByAgent: z.literal(true).optional(),
  }),
]);

const attestedBySchema = z.object({
  via: z.enum(ATTESTATION_CHANNELS),
  client: clientSchema.optional(),
  /** The launch of the program that received it. */
  launch: nonBlankSchema(LAUNCH_BYTES_MAX),
  /** The launch that asked, where it was another one. */
  askedLaunch: nonBlankSchema(LAUNCH_BYTES_MAX).optional(),
  /** When it was asked for, and how long the answer took, in milliseconds. */
  askedAt: count,
  answerMs: count,
  principal: nonBlankSchema(PRINCIPAL_BYTES_MAX).optional(),
});

/** What made a signature: a key in a file or an agent, a key in hardware, a passkey of the console. */
export const SIGNATURE_KINDS = ['ssh_key', 'security_key', 'passkey'] as const;

/**
 * An approver's signature over the statement, its subject and its id. It holds the public key, so it can be checked again
 * with nothing but a list of keys; the name is what the list said at the time.
 */
const signatureSchema = z.object({
  kind: z.enum(SIGNATURE_KINDS),
  fingerprint: fingerprintSchema,
  name: nonBlankSchema(PRINCIPAL_BYTES_MAX),
  /** The bytes that `ssh-keygen -Y sign` writes, in base64 without line breaks. */
  sshsig: z
    .string()
    .max(SIGNATURE_LENGTH_MAX)
    .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
});

/** What a person answered or a command showed, on a channel that the agent's arguments cannot reach. */
export const attestationRecordedSchema = eventSchema(
  'attestation_recorded',
  nodeScope,
  z.object({
    attestationId: AttestationId.schema,
    subject: subjectSchema,
    statement: statementSchema,
    by: attestedBySchema,
    signature: signatureSchema.optional(),
  }),
);
