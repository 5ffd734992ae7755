import * as z from 'zod';
import { assert } from '../assert.ts';
import { digestHex, ownJsonBytes, SHA256_DIGEST_PATTERN, type Sha256 } from '../json/canonical-json.ts';
import { fromBase32, toBase32 } from '../text/binary-text.ts';
import { ATTEMPT_MAX, EVENT_INDEX_MAX, STEP_ID_LENGTH_MAX, WORKFLOW_ID_LENGTH_MAX } from './budgets.ts';

/** Ids are a lower-case prefix and 80 bits of Crockford base32: safe in file names and dedupe keys, easy to read out. */
export const ID_BYTES = 10;
export const ID_BODY_PATTERN = '[0-9a-hjkmnp-tv-z]{16}';

/** A kind of id: its schema and the only way to create one. */
type IdKind<Name extends string> = {
  readonly prefix: string;
  readonly schema: z.ZodType<Id<Name>>;
  /** The same check as the schema, for thousands of ids. */
  readonly is: (text: string) => text is Id<Name>;
  readonly of: (bits: Uint8Array) => Id<Name>;
};
type Id<Name extends string> = string & z.core.$brand<Name>;

function idKind<Name extends string>(prefix: string): IdKind<Name> {
  const pattern = new RegExp(`^${prefix}_${ID_BODY_PATTERN}$`);
  const of = (bits: Uint8Array) => {
    assert(bits.length === ID_BYTES, `an id takes ${ID_BYTES} bytes, not ${bits.length}`);
    return `${prefix}_${toBase32(bits)}` as Id<Name>;
  };
  const is = (text: string): text is Id<Name> => pattern.test(text);
  return { prefix, schema: z.string().regex(pattern) as unknown as z.ZodType<Id<Name>>, is, of };
}

export const SessionId = idKind<'SessionId'>('sess');
export type SessionId = z.infer<typeof SessionId.schema>;
export const RunId = idKind<'RunId'>('run');
export type RunId = z.infer<typeof RunId.schema>;
export const NodeId = idKind<'NodeId'>('node');
export type NodeId = z.infer<typeof NodeId.schema>;
export const EventId = idKind<'EventId'>('evt');
export type EventId = z.infer<typeof EventId.schema>;
export const OutputId = idKind<'OutputId'>('out');
export type OutputId = z.infer<typeof OutputId.schema>;
export const GapId = idKind<'GapId'>('gap');
export type GapId = z.infer<typeof GapId.schema>;
export const PreferenceChangeId = idKind<'PreferenceChangeId'>('prefchg');
export type PreferenceChangeId = z.infer<typeof PreferenceChangeId.schema>;
export const CapabilityObservationId = idKind<'CapabilityObservationId'>('capobs');
export type CapabilityObservationId = z.infer<typeof CapabilityObservationId.schema>;
export const DivergenceId = idKind<'DivergenceId'>('div');
export type DivergenceId = z.infer<typeof DivergenceId.schema>;
export const TraceId = idKind<'TraceId'>('trace');
export type TraceId = z.infer<typeof TraceId.schema>;
export const ContextId = idKind<'ContextId'>('ctx');
export type ContextId = z.infer<typeof ContextId.schema>;
export const AttestationId = idKind<'AttestationId'>('att');
export type AttestationId = z.infer<typeof AttestationId.schema>;

const digest = z.string().regex(SHA256_DIGEST_PATTERN);

/** A compiled workflow, by the hash of its canonical JSON. */
export const workflowHashSchema = digest.brand<'WorkflowHash'>();
export type WorkflowHash = z.infer<typeof workflowHashSchema>;
/** An execution snapshot, by the hash of its canonical JSON. */
export const snapshotRefSchema = digest.brand<'SnapshotRef'>();
export type SnapshotRef = z.infer<typeof snapshotRefSchema>;
/** An artifact, by the hash of its bytes. */
export const artifactDigestSchema = digest.brand<'ArtifactDigest'>();
export type ArtifactDigest = z.infer<typeof artifactDigestSchema>;
/** Any other stored digest: of a request, a source file, a segment or a chain link. */
export const plainDigestSchema = z.templateLiteral(['sha256:', z.string().regex(/^[0-9a-f]{64}$/)]);

/** The fingerprint of a public key, as `ssh-keygen -l` shows it. */
export const fingerprintSchema = z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/);

/** Position of an event in its session. Nothing else orders events. */
export const eventIndexSchema = z.int().min(0).max(EVENT_INDEX_MAX).brand<'EventIndex'>();
export type EventIndex = z.infer<typeof eventIndexSchema>;
/** Position of a record in its manifest. */
export const manifestIndexSchema = z.int().min(0).brand<'ManifestIndex'>();
export type ManifestIndex = z.infer<typeof manifestIndexSchema>;
/** The number of an attempt at a node. It is an ordinal, so that the same request gives the same token. */
export const attemptIdSchema = z.int().min(0).max(ATTEMPT_MAX).brand<'AttemptId'>();
export type AttemptId = z.infer<typeof attemptIdSchema>;

/** Keys join step, loop and condition ids with `@`, `/` and `:`, so ids contain none of these. */
const delimiterSafe = z
  .string()
  .regex(/^[a-z0-9_-]+$/)
  .max(STEP_ID_LENGTH_MAX);
export const stepIdSchema = delimiterSafe.brand<'StepId'>();
export type StepId = z.infer<typeof stepIdSchema>;
export const loopIdSchema = delimiterSafe.brand<'LoopId'>();
export type LoopId = z.infer<typeof loopIdSchema>;
export const conditionIdSchema = delimiterSafe.brand<'ConditionId'>();
export type ConditionId = z.infer<typeof conditionIdSchema>;
export const contextKeySchema = delimiterSafe.brand<'ContextKey'>();

/** `namespace.name`, or a legacy id without a dot. */
export const workflowIdSchema = z
  .string()
  .regex(/^(?:[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*|[a-z0-9_-]{3,64})$/)
  .max(WORKFLOW_ID_LENGTH_MAX)
  .brand<'WorkflowId'>();
export type WorkflowId = z.infer<typeof workflowIdSchema>;

/**
 * The bits of an id that is derived from its parts, so that a retry creates the same id. The session id is never a part,
 * because an import may change it.
 */
export function derivedBits(parts: readonly (string | number | null)[], sha256: Sha256): Uint8Array {
  const hex = digestHex(sha256(ownJsonBytes(parts)));
  return Uint8Array.from({ length: ID_BYTES }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** The 80 bits of a session id; tokens contain them instead of the text. */
export function sessionIdBits(id: SessionId): Uint8Array {
  const bits = fromBase32(id.slice(SessionId.prefix.length + 1));
  assert(bits !== undefined, 'a session id is base32');
  return bits;
}

/** Four characters that distinguish the runs of a chat: a hint for agents and people, never a key. */
export function runTag(id: RunId): string {
  return id.slice(-4);
}

/** Reads a text that contains only a tag, such as `a3t9` or `Run A3T9`. No tag has an i, l or o. */
export function readRunTag(text: string): string | undefined {
  const [, tag] = /^\s*(?:run[\s_]+)?#?([0-9a-tv-z]{4})\s*$/i.exec(text) ?? [];
  return tag?.toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');
}

/** The iteration of each loop around a step, outermost first. Iterations count from 0. */
export const loopPathSchema = z.array(z.object({ loopId: loopIdSchema, iteration: z.int().min(0) }));
export type LoopPath = readonly { readonly loopId: LoopId; readonly iteration: number }[];

const PART = `[a-z0-9_-]{1,${STEP_ID_LENGTH_MAX}}`;
const ITERATION = '(?:0|[1-9][0-9]*)';

/** One execution of a step: `outer@0/inner@2::triage`, or just the step id outside loops. */
export const stepInstanceKeySchema = z
  .string()
  .regex(new RegExp(`^(?:${PART}@${ITERATION}(?:/${PART}@${ITERATION})*::)?${PART}$`))
  .brand<'StepInstanceKey'>();
export type StepInstanceKey = z.infer<typeof stepInstanceKeySchema>;

export function stepInstanceKey(stepId: StepId, loopPath: LoopPath): StepInstanceKey {
  if (loopPath.length === 0) return stepId as string as StepInstanceKey;
  const path = loopPath.map(({ loopId, iteration }) => `${loopId}@${iteration}`).join('/');
  return `${path}::${stepId}` as StepInstanceKey;
}

export function parseStepInstanceKey(key: StepInstanceKey): { readonly stepId: StepId; readonly loopPath: LoopPath } {
  const [path, step] = key.includes('::') ? key.split('::') : ['', key];
  const loopPath = (path ?? '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      const [loopId, iteration] = part.split('@');
      return { loopId: loopIdSchema.parse(loopId), iteration: Number(iteration) };
    });
  return { stepId: stepIdSchema.parse(step), loopPath };
}
