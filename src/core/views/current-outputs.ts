import type { EventOf } from '../log/event.ts';
import type { OutputChannel } from '../log/events/output-events.ts';
import type { NodeId, OutputId } from '../log/ids.ts';

/** An output as it was handed in. */
export type NodeOutput = EventOf<'node_output_appended'>;

/** An output with what became of it. */
export type OutputEntry = { readonly output: NodeOutput; readonly isSuperseded: boolean };

export type OutputsView = {
  readonly byNode: Map<NodeId, NodeOutputs>;
  readonly known: Map<OutputId, { readonly nodeId: NodeId; readonly channel: OutputChannel }>;
};

/** `isDraft`: handed in with an attempt that was turned down. */
type NodeOutputs = { readonly isDraft: boolean; readonly appended: NodeOutput[]; readonly superseded: Set<OutputId> };

export function emptyOutputs(): OutputsView {
  return { byNode: new Map(), known: new Map() };
}

/** Tells whether the event is the first to supersede another output. */
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

/** Everything a node was given, oldest first; nothing is ever taken out. */
export function outputHistory(outputs: OutputsView, nodeId: NodeId): readonly OutputEntry[] {
  const ofNode = outputs.byNode.get(nodeId);
  return (ofNode?.appended ?? []).map((output) => ({
    output,
    isSuperseded: ofNode?.superseded.has(output.data.outputId) ?? false,
  }));
}

/** Outputs of a node that none superseded, oldest first. What a blocked attempt handed in counts for nothing. */
export function currentOutputs(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputs.byNode.get(nodeId)?.isDraft === true ? [] : standing(outputs, nodeId);
}

/** The latest output of a channel that none superseded. */
export function currentOutput(outputs: OutputsView, nodeId: NodeId, channel: OutputChannel): NodeOutput | undefined {
  return currentOutputs(outputs, nodeId).findLast(({ data }) => data.outputChannel === channel);
}

/** What was handed in with a blocked attempt, so that a retry need not type it again. Empty for any other node. */
export function blockedDraft(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputs.byNode.get(nodeId)?.isDraft === true ? standing(outputs, nodeId) : [];
}

function standing(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputHistory(outputs, nodeId)
    .filter(({ isSuperseded }) => !isSuperseded)
    .map(({ output }) => output);
}
