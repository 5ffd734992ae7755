import type { EventOf } from '../log/event.ts';
import type { OutputChannel } from '../log/events/output-events.ts';
import type { TraceEntry } from '../log/events/trace-events.ts';
import type { AttemptId, NodeId, OutputId } from '../log/ids.ts';

/** An output as it was sent. */
export type NodeOutput = EventOf<'node_output_appended'>;

/** An output, and whether it was superseded. */
export type OutputEntry = { readonly output: NodeOutput; readonly isSuperseded: boolean };

export type OutputsView = {
  readonly byNode: Map<NodeId, NodeOutputs>;
  readonly known: Map<OutputId, { readonly nodeId: NodeId; readonly channel: OutputChannel }>;
};

/** `isDraft`: sent with an attempt that was blocked. */
type NodeOutputs = { readonly isDraft: boolean; readonly appended: NodeOutput[]; readonly superseded: Set<OutputId> };

export function emptyOutputs(): OutputsView {
  return { byNode: new Map(), known: new Map() };
}

/** Returns whether the event is the first to supersede another output. */
export function applyOutputAppended(outputs: OutputsView, event: NodeOutput, isDraft: boolean): boolean {
  const { nodeId } = event.scope;
  const { outputId, outputChannel, supersedesOutputId } = event.data;
  const ofNode = outputs.byNode.get(nodeId) ?? { isDraft, appended: [], superseded: new Set() };
  outputs.byNode.set(nodeId, ofNode);
  outputs.known.set(outputId, { nodeId, channel: outputChannel });
  ofNode.appended.push(event);
  if (supersedesOutputId === undefined || ofNode.superseded.has(supersedesOutputId)) return false;
  ofNode.superseded.add(supersedesOutputId);
  return true;
}

/** All outputs of a node, oldest first; nothing is ever removed. */
export function outputHistory(outputs: OutputsView, nodeId: NodeId): readonly OutputEntry[] {
  const ofNode = outputs.byNode.get(nodeId);
  return (ofNode?.appended ?? []).map((output) => ({
    output,
    isSuperseded: ofNode?.superseded.has(output.data.outputId) ?? false,
  }));
}

/** Outputs of a node that are not superseded, oldest first. What a blocked attempt sent does not count. */
export function currentOutputs(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputs.byNode.get(nodeId)?.isDraft === true ? [] : standing(outputs, nodeId);
}

/** The latest output of a channel that is not superseded. */
export function currentOutput(outputs: OutputsView, nodeId: NodeId, channel: OutputChannel): NodeOutput | undefined {
  return currentOutputs(outputs, nodeId).findLast(({ data }) => data.outputChannel === channel);
}

/** What was sent with a blocked attempt, so that a retry need not send it again. Empty for any other node. */
export function blockedDraft(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputs.byNode.get(nodeId)?.isDraft === true ? standing(outputs, nodeId) : [];
}

function standing(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputHistory(outputs, nodeId)
    .filter(({ isSuperseded }) => !isSuperseded)
    .map(({ output }) => output);
}

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
