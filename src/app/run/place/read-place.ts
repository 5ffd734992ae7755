import { err, ok, type Result } from 'neverthrow';
import { PRESETS, type Preferences } from '../../../core/log/autonomy.ts';
import type { ExecutionSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { TokenRefusal } from '../../../core/token/token-refusal.ts';
import { storedWorkflowMismatch, type TokenTarget } from '../../../core/token/token-scope.ts';
import { preferencesAt } from '../../../core/views/preferences-in-force.ts';
import { nodeOf } from '../../../core/views/run-graph.ts';
import type { CompiledWorkflow } from '../../../core/workflow/compiled/compiled-workflow.ts';
import type { LoadedSession } from '../../ports/session-store.ts';
import type { StoreFailure } from '../../ports/store-failure.ts';
import type { ReadServices } from '../../services.ts';

/** What a decision or a reply at a node goes by. */
export type PlaceContent = {
  readonly workflow: CompiledWorkflow;
  readonly snapshot: ExecutionSnapshot;
  readonly preferences: Preferences;
};

export async function readPlace(
  services: ReadServices,
  { view }: LoadedSession,
  target: TokenTarget,
): Promise<Result<PlaceContent, TokenRefusal | StoreFailure>> {
  const { nodeId, snapshotRef, workflowHash: pinned } = nodeOf(view.graph, target.nodeId);
  const snapshot = await services.snapshots.get(snapshotRef);
  if (snapshot.isErr()) return err(snapshot.error);
  const workflow = await services.pinnedWorkflows.get(pinned);
  if (workflow.isErr()) {
    const refusal = workflow.error;
    if (refusal.code !== 'other_workflow_stored') return err(refusal);
    return err(storedWorkflowMismatch(target, { pinned, found: refusal.found }));
  }
  const preferences = preferencesAt(view.preferences, nodeId) ?? PRESETS.guided;
  return ok({ workflow: workflow.value, snapshot: snapshot.value, preferences });
}
