import { assert } from '../../src/core/assert.ts';
import { type DraftOf, type EventDraft, eventIdOf } from '../../src/core/log/event.ts';
import { AttestationId, ContextId, derivedBits } from '../../src/core/log/ids.ts';
import { outputDrafts, outputId } from '../../src/core/log/operation/operation-drafts.ts';
import { STORED_REPLY } from './advance-drafts.ts';
import {
  ARTIFACTS,
  attempt,
  BLOCKED,
  CHECKPOINT,
  digestOf,
  FORK,
  ROOT,
  RUN,
  SECOND,
  step,
  THIRD,
  TO_CHECKPOINT,
  TO_FORK,
  TO_SECOND,
  WORKFLOW_HASH,
} from './ids.ts';
import { sha256 } from './sha256.ts';
import { snapshotRef } from './snapshots.ts';

const atCheckpoint = { runId: RUN, nodeId: CHECKPOINT };

const checkpointNode: DraftOf<'node_created'> = {
  kind: 'node_created',
  scope: atCheckpoint,
  data: {
    nodeKind: 'checkpoint',
    parentNodeId: THIRD,
    workflowHash: WORKFLOW_HASH,
    snapshotRef: snapshotRef('complete'),
  },
};

/** A checkpoint with a note after the third step. */
export const checkpointDrafts: readonly EventDraft[] = [
  checkpointNode,
  {
    kind: 'edge_created',
    scope: { runId: RUN },
    data: {
      edgeKind: 'checkpoint',
      fromNodeId: THIRD,
      toNodeId: CHECKPOINT,
      cause: { kind: 'checkpoint_created', eventId: eventIdOf(checkpointNode, sha256) },
    },
  },
  ...outputDrafts(
    { notesMarkdown: 'Half way.', artifacts: [] },
    { attempt: TO_CHECKPOINT, created: atCheckpoint },
    sha256,
  ).drafts,
];

const recapOfSecond = outputId(TO_SECOND, { payloadKind: 'notes', place: 0 }, sha256);

/** A correction of the note of the second step. */
export const correctionDrafts: readonly EventDraft[] = [
  {
    kind: 'node_output_appended',
    scope: { runId: RUN, nodeId: SECOND },
    data: {
      outputId: outputId({ ...TO_SECOND, attemptId: attempt(9) }, { payloadKind: 'notes', place: 0 }, sha256),
      supersedesOutputId: recapOfSecond,
      outputChannel: 'recap',
      payload: { payloadKind: 'notes', notesMarkdown: 'It leaks elsewhere.' },
    },
  },
];

const toFork: DraftOf<'advance_recorded'> = {
  kind: 'advance_recorded',
  scope: { runId: RUN, nodeId: ROOT },
  data: {
    attemptId: TO_FORK.attemptId,
    intent: 'ack_pending',
    outcome: { kind: 'advanced', toNodeId: FORK },
    reply: STORED_REPLY,
    requestDigest: digestOf('fork request'),
  },
};

/** A second branch from the root. */
export const forkDrafts: readonly EventDraft[] = [
  toFork,
  {
    kind: 'node_created',
    scope: { runId: RUN, nodeId: FORK },
    data: {
      nodeKind: 'step',
      parentNodeId: ROOT,
      workflowHash: WORKFLOW_HASH,
      snapshotRef: snapshotRef('nothing_pending'),
    },
  },
  {
    kind: 'edge_created',
    scope: { runId: RUN },
    data: {
      edgeKind: 'acked_step',
      fromNodeId: ROOT,
      toNodeId: FORK,
      cause: { kind: 'non_tip_advance', eventId: eventIdOf(toFork, sha256) },
    },
  },
];

const atBlocked = { runId: RUN, nodeId: BLOCKED };
const attestationOf = (name: string) => AttestationId.of(derivedBits([name], sha256));
const byTerminal = { via: 'terminal', launch: 'launch-1', askedAt: 1_700_000_000_000, answerMs: 12_000 } as const;
const SHA = 'd'.repeat(40);
const [LOG] = ARTIFACTS;
assert(LOG !== undefined, 'there is an example artifact');

/** A person rejects and approves the blocked attempt and answers a question, and a check is run. */
export const attestationDrafts: readonly EventDraft[] = [
  {
    kind: 'attestation_recorded',
    scope: atBlocked,
    data: {
      attestationId: attestationOf('rejected'),
      subject: { kind: 'attempt', digest: digestOf('blocked attempt') },
      statement: { kind: 'rejected', comment: 'Not on a Friday.', shown: 'part' },
      by: {
        ...byTerminal,
        via: 'elicitation',
        client: { name: 'claude-code', version: '2.1.300' },
        principal: 'maria@example.com',
      },
    },
  },
  {
    kind: 'attestation_recorded',
    scope: atBlocked,
    data: {
      attestationId: attestationOf('approved'),
      subject: { kind: 'attempt', digest: digestOf('blocked attempt') },
      statement: { kind: 'approved', shown: 'whole' },
      by: { ...byTerminal, via: 'console' },
    },
  },
  {
    kind: 'attestation_recorded',
    scope: atBlocked,
    data: {
      attestationId: attestationOf('answered'),
      subject: { kind: 'attempt', digest: digestOf('blocked attempt') },
      statement: { kind: 'answered', value: 'staging', shown: 'whole' },
      by: byTerminal,
    },
  },
  {
    kind: 'context_set',
    scope: atBlocked,
    data: {
      contextId: ContextId.of(derivedBits([attestationOf('answered')], sha256)),
      context: { target: 'staging' },
      source: 'person',
    },
  },
  {
    kind: 'attestation_recorded',
    scope: atBlocked,
    data: {
      attestationId: attestationOf('check'),
      subject: { kind: 'step', stepId: step('decide'), loopPath: [], snapshotRef: snapshotRef('nothing_pending') },
      statement: {
        kind: 'check',
        checkId: 'tests',
        commandDigest: digestOf('npm test'),
        exitCode: 0,
        timedOut: false,
        durationMs: 8_100,
        tests: { executed: 240, failed: 0 },
        headSha: SHA,
        treeDigest: digestOf('tree'),
        log: { sha256: LOG[0], byteLength: LOG[1].length },
        base: {
          exitCode: 1,
          timedOut: false,
          durationMs: 7_900,
          sha: SHA,
          tests: { executed: 240, failed: 1 },
          fixed: 1,
        },
      },
      by: byTerminal,
    },
  },
];
