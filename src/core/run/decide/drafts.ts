import type { Sha256 } from '../../json/canonical-bytes.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { TRACE_EVENTS_MAX } from '../../log/budgets.ts';
import type { EventOf } from '../../log/event.ts';
import type { DraftOf, EventDraft } from '../../log/event-draft.ts';
import { dealTrace, type TraceEntry } from '../../log/events/trace-events.ts';
import { type ExecutionSnapshot, sealSnapshot } from '../../log/execution-snapshot.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { capabilityObservationId, contextId, divergenceId, traceId } from '../../log/operation/derived-ids.ts';
import type { StepCheck } from '../requirements/step-check.ts';

/** The node that an operation makes. Everything it records besides hangs there. */
export type CreatedNode = { readonly runId: RunId; readonly nodeId: NodeId };

export function nodeDraft(
  node: CreatedNode,
  made: {
    readonly nodeKind: EventOf<'node_created'>['data']['nodeKind'];
    readonly parentNodeId: NodeId | null;
    readonly snapshot: ExecutionSnapshot;
  },
  sha256: Sha256,
): DraftOf<'node_created'> {
  const { nodeKind, parentNodeId, snapshot } = made;
  const { workflowHash } = snapshot;
  const snapshotRef = sealSnapshot(snapshot, sha256).ref;
  return { kind: 'node_created', scope: node, data: { nodeKind, parentNodeId, workflowHash, snapshotRef } };
}

/** What was seen of the agent's powers, and where it left its instructions on purpose. */
export function reportDrafts(
  node: CreatedNode,
  { observations, divergences }: Pick<StepCheck, 'observations' | 'divergences'>,
  sha256: Sha256,
): readonly EventDraft[] {
  const { nodeId } = node;
  return [
    ...divergences.map((divergence, place) => ({
      kind: 'divergence_recorded' as const,
      scope: node,
      data: { divergenceId: divergenceId({ nodeId, place }, sha256), ...divergence },
    })),
    ...observations.map((observation, place) => ({
      kind: 'capability_observed' as const,
      scope: node,
      data: { capObsId: capabilityObservationId({ nodeId, place }, sha256), ...observation },
    })),
  ];
}

/** A change of context, where there is one. */
export function contextDrafts(
  node: CreatedNode,
  delta: JsonObject | undefined,
  from: { readonly source: EventOf<'context_set'>['data']['source']; readonly sha256: Sha256 },
): readonly DraftOf<'context_set'>[] {
  if (delta === undefined) return [];
  const data = { contextId: contextId(node.nodeId, from.sha256), context: delta, source: from.source };
  return [{ kind: 'context_set', scope: node, data }];
}

/** What a walk passed over, and why it went as it did. */
export function walkDrafts(
  node: CreatedNode,
  walk: { readonly skipped: readonly EventOf<'step_skipped'>['data'][]; readonly trace: readonly TraceEntry[] },
  sha256: Sha256,
): readonly EventDraft[] {
  const { nodeId } = node;
  return [
    ...walk.skipped.map((data, ordinal) => ({
      kind: 'step_skipped' as const,
      scope: node,
      data,
      keyOnly: { ordinal },
    })),
    ...dealtTrace(walk.trace).map((entries, place) => ({
      kind: 'decision_trace_appended' as const,
      scope: node,
      data: { traceId: traceId({ nodeId, place }, sha256), entries: [...entries] },
    })),
  ];
}

/** A long trace keeps its beginning and what was chosen in the end; that the rest is left out is said in its place. */
function dealtTrace(trace: readonly TraceEntry[]): readonly (readonly TraceEntry[])[] {
  const dealt = dealTrace(trace);
  const last = dealt.at(-1)?.at(-1);
  if (dealt.length <= TRACE_EVENTS_MAX || last === undefined) return dealt;
  const kept = dealt.slice(0, TRACE_EVENTS_MAX - 1);
  const leftOut = trace.length - kept.flat().length - 1;
  const summary = `${leftOut} more entries found no room in this trace.`;
  return [...kept, [{ kind: 'evaluated_condition', summary }, last]];
}
