import { err, ok, type Result } from 'neverthrow';
import type { EngineState } from '../../../core/log/execution-snapshot.ts';
import type { NodeId } from '../../../core/log/ids.ts';
import type { EarlierStep, Unmet } from '../../../core/run/requirements/step-check.ts';
import { nodeOf } from '../../../core/views/run-graph.ts';
import type { SessionView } from '../../../core/views/session-view.ts';
import type { StoreFailure } from '../../ports/store-failure.ts';
import type { ReadServices } from '../../services.ts';

/** The nearest step above a node where something can be met that no call from the node itself can meet. */
export async function earlierStep(
  { snapshots }: Pick<ReadServices, 'snapshots'>,
  { graph }: SessionView,
  from: { readonly nodeId: NodeId; readonly unmet: readonly Unmet[] },
): Promise<Result<NodeId | undefined, StoreFailure>> {
  const ways = from.unmet.flatMap((unmet) => unmet.wayBack ?? []);
  if (ways.length === 0) return ok(undefined);
  for (let id = nodeOf(graph, from.nodeId).parentNodeId; id !== null; id = nodeOf(graph, id).parentNodeId) {
    const { kind, snapshotRef } = nodeOf(graph, id);
    if (kind !== 'step') continue;
    const snapshot = await snapshots.get(snapshotRef);
    if (snapshot.isErr()) return err(snapshot.error);
    const { state } = snapshot.value.enginePayload;
    if (ways.some((way) => leadsTo(way, state))) return ok(id);
  }
  return ok(undefined);
}

function leadsTo(way: EarlierStep, state: EngineState): boolean {
  if (state.kind !== 'running') return way.kind === 'before_loop';
  if (way.kind === 'before_loop') return !state.loopStack.some(({ loopId }) => loopId === way.loopId);
  return state.pending.kind === 'some' && state.pending.step.stepId === way.stepId;
}
