import type { Sha256 } from '../../json/canonical-json.ts';
import { defined } from '../../json/json-value.ts';
import { eventIdOf } from '../../log/event.ts';
import type { CheckpointGates } from '../../log/events/graph-events.ts';
import type { ObservationData } from '../../log/events/run-events.ts';
import type { ExecutionSnapshot } from '../../log/execution-snapshot.ts';
import type { RunId } from '../../log/ids.ts';
import { observationDrafts } from '../../log/operation/changed-observations.ts';
import { type Attempt, createdNodeId, outputDrafts, type StepOutput } from '../../log/operation/operation-drafts.ts';
import type { StepCheck } from '../requirements/requirement.ts';
import { type Decision, type DecisionNode, nodeDraft, reportDrafts } from './drafts.ts';

export type Checkpoint = {
  readonly runId: RunId;
  readonly attempt: Attempt;
  readonly at: ExecutionSnapshot;
  readonly output: StepOutput;
  /** What is new about the workspace. */
  readonly observations: readonly ObservationData[];
  /** Observations and divergences in its artifacts, which are recorded with any call. */
  readonly reports: Pick<StepCheck, 'observations' | 'divergences'>;
  /** What the settings say about gates, if the step asks a person. */
  readonly gates?: CheckpointGates | undefined;
};

/** Saves work between steps: a node with the same pending step, and what was sent. */
export function checkpointRun(checkpoint: Checkpoint, sha256: Sha256): Decision<DecisionNode> {
  const { runId, attempt, at } = checkpoint;
  const node = { runId, nodeId: createdNodeId(runId, attempt, sha256) };
  const created = nodeDraft(node, { nodeKind: 'checkpoint', parentNodeId: attempt.nodeId, snapshot: at }, sha256);
  const outputs = outputDrafts(checkpoint.output, { attempt, created: node }, sha256);
  return {
    outcome: { nodeId: node.nodeId, snapshot: at },
    drafts: [
      created,
      {
        kind: 'edge_created',
        scope: { runId },
        data: {
          edgeKind: 'checkpoint',
          fromNodeId: attempt.nodeId,
          toNodeId: node.nodeId,
          ...defined({ gates: checkpoint.gates }),
          cause: { kind: 'checkpoint_created', eventId: eventIdOf(created, sha256) },
        },
      },
      ...observationDrafts(checkpoint.observations, node.nodeId, sha256),
      ...outputs.drafts,
      ...reportDrafts(node, checkpoint.reports, sha256),
    ],
  };
}
