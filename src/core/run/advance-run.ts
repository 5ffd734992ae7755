import type { Sha256, Sha256Digest } from '../json/canonical-bytes.ts';
import { type DraftOf, eventIdOf } from '../log/event-draft.ts';
import type { StoredReply } from '../log/events/advance-recorded.ts';
import { type ExecutionSnapshot, executionSnapshot, sealSnapshot } from '../log/execution-snapshot.ts';
import type { RunId } from '../log/ids.ts';
import { type Attempt, createdNodeId } from '../log/operation/derived-ids.ts';
import { outputDrafts, type StepOutput } from '../log/operation/output-drafts.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import type { Decision } from './start-run.ts';
import { nextState } from './step-selection.ts';

export type Advance = {
  readonly runId: RunId;
  readonly attempt: Attempt;
  readonly workflow: CompiledWorkflow;
  readonly at: ExecutionSnapshot;
  /** Whether a step was already taken from the node; then this one is a branch. */
  readonly hasStepBelow: boolean;
  readonly output: StepOutput;
  readonly requestDigest: Sha256Digest;
  /** The reply that goes with the state the advance leads to, and with what it has to say about the call. */
  readonly reply: (snapshot: ExecutionSnapshot, told: { readonly isNoteCut: boolean }) => StoredReply;
};

/** Takes the pending step as done: a new node behind the attempted one, with what was handed in. */
export function advanceRun(advance: Advance, sha256: Sha256): Decision {
  const { runId, attempt } = advance;
  const nodeId = createdNodeId(runId, attempt, sha256);
  const state = nextState(advance.workflow, advance.at.enginePayload.state);
  const snapshot = executionSnapshot(advance.at.workflowHash, state);
  const outputs = outputDrafts(advance.output, { attempt, created: { runId, nodeId } }, sha256);
  const recorded: DraftOf<'advance_recorded'> = {
    kind: 'advance_recorded',
    scope: { runId, nodeId: attempt.nodeId },
    data: {
      attemptId: attempt.attemptId,
      intent: 'ack_pending',
      outcome: { kind: 'advanced', toNodeId: nodeId },
      reply: advance.reply(snapshot, outputs),
      requestDigest: advance.requestDigest,
    },
  };
  return {
    nodeId,
    snapshot,
    drafts: [
      {
        kind: 'node_created',
        scope: { runId, nodeId },
        data: {
          nodeKind: 'step',
          parentNodeId: attempt.nodeId,
          workflowHash: advance.at.workflowHash,
          snapshotRef: sealSnapshot(snapshot, sha256).ref,
        },
      },
      {
        kind: 'edge_created',
        scope: { runId },
        data: {
          edgeKind: 'acked_step',
          fromNodeId: attempt.nodeId,
          toNodeId: nodeId,
          cause: {
            kind: advance.hasStepBelow ? 'non_tip_advance' : 'tip_advance',
            eventId: eventIdOf(recorded, sha256),
          },
        },
      },
      ...outputs.drafts,
      // Last, because it holds the stored reply: a loader that does not replay need not look into it.
      recorded,
    ],
  };
}
