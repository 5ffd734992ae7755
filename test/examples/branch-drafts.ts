import { type DraftOf, type EventDraft, eventIdOf } from '../../src/core/log/event.ts';
import { outputDrafts, outputId } from '../../src/core/log/operation/operation-drafts.ts';
import { STORED_REPLY } from './advance-drafts.ts';
import {
  attempt,
  CHECKPOINT,
  digestOf,
  FORK,
  ROOT,
  RUN,
  SECOND,
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
