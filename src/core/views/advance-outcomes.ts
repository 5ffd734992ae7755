import type { EventOf } from '../log/event.ts';
import type { TraceEntry } from '../log/events/trace-events.ts';
import type { AttemptId, NodeId } from '../log/ids.ts';

type AdvanceRecorded = EventOf<'advance_recorded'>;

/** One attempt at a node with its outcome. The reply stays in the log: only a replay needs it. */
export type AdvanceRecord = Omit<AdvanceRecorded, 'data'> & { readonly data: Omit<AdvanceRecorded['data'], 'reply'> };

export type AdvancesView = Map<NodeId, Map<AttemptId, AdvanceRecord>>;

export function applyAdvanceRecorded(advances: AdvancesView, event: AdvanceRecord): void {
  const ofNode = advances.get(event.scope.nodeId) ?? new Map<AttemptId, AdvanceRecord>();
  advances.set(event.scope.nodeId, ofNode);
  ofNode.set(event.data.attemptId, withoutReply(event));
}

/** The outcome of an attempt at a node, for a replay of its token. */
export function advanceOutcome(
  advances: AdvancesView,
  nodeId: NodeId,
  attemptId: AttemptId,
): AdvanceRecord | undefined {
  return advances.get(nodeId)?.get(attemptId);
}

/** How many attempts at a node are recorded; the next attempt takes this number as its id. */
export function attemptCount(advances: AdvancesView, nodeId: NodeId): number {
  return advances.get(nodeId)?.size ?? 0;
}

/** A loaded session has already dropped it. */
function withoutReply(event: AdvanceRecord | AdvanceRecorded): AdvanceRecord {
  if (!('reply' in event.data)) return event;
  const { reply: _, ...data } = event.data;
  return { ...event, data };
}

/** The decision trace of each node. People read it; no decision does. */
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
