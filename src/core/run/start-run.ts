import type { Sha256 } from '../json/canonical-bytes.ts';
import type { EventOf } from '../log/event.ts';
import type { EventDraft } from '../log/event-draft.ts';
import { type ExecutionSnapshot, executionSnapshot, sealSnapshot } from '../log/execution-snapshot.ts';
import type { NodeId, RunId } from '../log/ids.ts';
import { preferenceChangeId, rootNodeId } from '../log/operation/derived-ids.ts';
import type { Preferences } from '../log/preferences.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { firstState } from './step-selection.ts';

export type RunStart = {
  readonly runId: RunId;
  readonly workflow: CompiledWorkflow;
  readonly pin: EventOf<'run_started'>['data'];
  readonly preferences: Preferences;
};

/** What an operation adds to the log, and the node that its reply is about. */
export type Decision = {
  readonly drafts: readonly EventDraft[];
  readonly snapshot: ExecutionSnapshot;
  readonly nodeId: NodeId;
};

/** Opens a session with one run that stands at its first step. */
export function startRun(start: RunStart, sha256: Sha256): Decision {
  const nodeId = rootNodeId(start.runId, sha256);
  const scope = { runId: start.runId, nodeId };
  const snapshot = executionSnapshot(start.pin.workflowHash, firstState(start.workflow));
  const { autonomy, riskPolicy } = start.preferences;
  return {
    nodeId,
    snapshot,
    drafts: [
      { kind: 'session_created', data: {} },
      { kind: 'run_started', scope: { runId: start.runId }, data: start.pin },
      {
        kind: 'node_created',
        scope,
        data: {
          nodeKind: 'step',
          parentNodeId: null,
          workflowHash: start.pin.workflowHash,
          snapshotRef: sealSnapshot(snapshot, sha256).ref,
        },
      },
      {
        kind: 'preferences_changed',
        scope,
        // The baseline is written down, so that a later change of defaults does not reach into this run.
        data: {
          changeId: preferenceChangeId({ nodeId, place: 0 }, sha256),
          source: 'system',
          delta: [
            { key: 'autonomy', value: autonomy },
            { key: 'riskPolicy', value: riskPolicy },
          ],
          effective: { autonomy, riskPolicy },
        },
      },
    ],
  };
}
