import { canonicalBytes } from '../../src/core/json/canonical-json.ts';
import {
  type ArtifactDigest,
  attemptIdSchema,
  conditionIdSchema,
  loopIdSchema,
  RunId,
  SessionId,
  stepIdSchema,
  type WorkflowHash,
  workflowIdSchema,
} from '../../src/core/log/ids.ts';
import { type Attempt, createdNodeId, rootNodeId } from '../../src/core/log/operation/operation-drafts.ts';
import { sha256 } from './sha256.ts';

export const SESSION = SessionId.schema.parse('sess_0123456789abcdef');
export const OTHER_SESSION = SessionId.schema.parse('sess_fedcba9876543210');
export const RUN = RunId.schema.parse('run_00000000000000r1');
export const OTHER_RUN = RunId.schema.parse('run_00000000000000r2');

export const attempt = (ordinal: number) => attemptIdSchema.parse(ordinal);
export const step = (id: string) => stepIdSchema.parse(id);
export const loop = (id: string) => loopIdSchema.parse(id);
export const condition = (id: string) => conditionIdSchema.parse(id);
export const digestOf = (value: string) => sha256(canonicalBytes(value)._unsafeUnwrap());

export const WORKFLOW_ID = workflowIdSchema.parse('project.bug_hunt');
export const WORKFLOW_HASH = digestOf('workflow') as string as WorkflowHash;
/** The bytes of every artifact, in the order of their digests. */
export const ARTIFACTS: ReadonlyMap<ArtifactDigest, Uint8Array> = new Map(
  ['findings', 'changed files']
    .map((text) => [digestOf(text) as string as ArtifactDigest, canonicalBytes(text)._unsafeUnwrap()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);

/** The attempts of the example session, and the nodes they create. */
export const ROOT = rootNodeId(RUN, sha256);
const created = (of: Attempt) => createdNodeId(RUN, of, sha256);
export const TO_SECOND: Attempt = { nodeId: ROOT, attemptId: attempt(0), operation: 'advance' };
export const SECOND = created(TO_SECOND);
export const TO_BLOCKED: Attempt = { nodeId: SECOND, attemptId: attempt(0), operation: 'advance' };
export const BLOCKED = created(TO_BLOCKED);
export const TO_THIRD: Attempt = { nodeId: BLOCKED, attemptId: attempt(0), operation: 'advance' };
export const THIRD = created(TO_THIRD);
export const TO_CHECKPOINT: Attempt = { nodeId: THIRD, attemptId: attempt(0), operation: 'checkpoint' };
export const CHECKPOINT = created(TO_CHECKPOINT);
export const TO_FORK: Attempt = { nodeId: ROOT, attemptId: attempt(1), operation: 'advance' };
export const FORK = created(TO_FORK);
