import { err, type Result } from 'neverthrow';
import type { ExecutionSnapshot } from '../core/log/execution-snapshot.ts';
import { PRESETS, type Preferences } from '../core/log/preferences.ts';
import type { TokenTarget } from '../core/token/token-scope.ts';
import { preferencesAt } from '../core/views/preferences.ts';
import { nodeOf } from '../core/views/run-graph.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import type { LoadedSession } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import type { ReadServices } from './services.ts';

/** What a decision or a reply at a node goes by. */
export type PlaceContent = {
  readonly workflow: CompiledWorkflow;
  readonly snapshot: ExecutionSnapshot;
  readonly preferences: Preferences;
};

export async function readPlace(
  services: ReadServices,
  { view }: LoadedSession,
  { nodeId }: TokenTarget,
): Promise<Result<PlaceContent, StoreFailure>> {
  const { snapshotRef, workflowHash } = nodeOf(view.graph, nodeId);
  const snapshot = await services.snapshots.get(snapshotRef);
  if (snapshot.isErr()) return err(snapshot.error);
  const workflow = await services.pinnedWorkflows.get(workflowHash);
  const preferences = preferencesAt(view.preferences, nodeId) ?? PRESETS.guided;
  return workflow.map((pinned) => ({ workflow: pinned, snapshot: snapshot.value, preferences }));
}
