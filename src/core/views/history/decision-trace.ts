import type { EventOf } from '../../log/event.ts';
import type { TraceEntry } from '../../log/events/trace-events.ts';
import type { NodeId } from '../../log/ids.ts';

/** Why the engine chose as it did, node by node. For people who look; no decision reads it. */
export type TraceView = Map<NodeId, TraceEntry[]>;

export function applyTraceAppended(trace: TraceView, event: EventOf<'decision_trace_appended'>): void {
  const entries = trace.get(event.scope.nodeId) ?? [];
  trace.set(event.scope.nodeId, entries);
  for (const entry of event.data.entries) entries.push(entry);
}

/** The trace of the decision that led to a node, in the order it was written. */
export function decisionTrace(trace: TraceView, nodeId: NodeId): readonly TraceEntry[] {
  return trace.get(nodeId) ?? [];
}
