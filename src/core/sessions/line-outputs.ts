import type { NodeId, OutputId } from '../log/ids.ts';
import { type NodeOutput, type OutputsView, outputHistory } from '../views/current-outputs.ts';
import { nodeOf, type RunGraph, type RunNode } from '../views/run-graph.ts';
import type { SessionView } from '../views/session-view.ts';
import { around, pathTo } from './run-lines.ts';

/** What was handed in at one place of a line: with a step, or saved on the way to it. */
export type LineOutputs = {
  /** The node at which the step was due. */
  readonly dueAt: NodeId;
  readonly kind: 'step' | 'checkpoint';
  readonly outputs: readonly NodeOutput[];
};

/** How far a line is looked at: up to all that is at a node now, or to what was there when the node was made. */
export type LineEnd = { readonly nodeId: NodeId; readonly isAsMade?: boolean };

/**
 * All that the line of a node holds, in order: what a recap of the node draws on, and artifacts by the same rules. What
 * came to a place after the line had gone on from it does not count, nor do drafts that were turned down.
 */
export function lineOutputs(view: SessionView, { nodeId, isAsMade = false }: LineEnd): readonly LineOutputs[] {
  const { graph, outputs } = view;
  const stretches = stretchesTo(graph, nodeOf(graph, nodeId));
  return stretches.flatMap(({ step, hosts }, i): readonly LineOutputs[] => {
    const before = stretches[i + 1]?.step.createdIndex ?? Number.POSITIVE_INFINITY;
    const dueAt = stretches[i - 1]?.step.nodeId ?? step.nodeId;
    // The node that a step led to is where the next one is due: what is saved there is on the way to that one.
    const isBehind = isAsMade && i === stretches.length - 1;
    const saved = isBehind ? [] : checkpointsOn(graph, step).filter(({ hostNodeId }) => hosts.has(hostNodeId));
    const places: readonly LineOutputs[] = [
      { dueAt, kind: 'step', outputs: standingBefore(outputs, step.nodeId, before) },
      ...saved.map((one): LineOutputs => {
        const handedIn = standingBefore(outputs, one.nodeId, before);
        return { dueAt: step.nodeId, kind: 'checkpoint', outputs: handedIn };
      }),
    ];
    return places.filter((place) => place.outputs.length > 0);
  });
}

/** A step of a line, and the nodes of the line until the next one. */
type Stretch = { readonly step: RunNode; readonly hosts: Set<NodeId> };

function stretchesTo(graph: RunGraph, node: RunNode): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const one of pathTo(graph, node)) {
    if (one.kind === 'step') stretches.push({ step: one, hosts: new Set() });
    stretches.at(-1)?.hosts.add(one.nodeId);
  }
  return stretches;
}

/** What a node held at a moment; a later correction is no part of it. */
function standingBefore(outputs: OutputsView, nodeId: NodeId, before: number): readonly NodeOutput[] {
  const known = outputHistory(outputs, nodeId)
    .map(({ output }) => output)
    .filter(({ eventIndex }) => eventIndex < before);
  const superseded = new Set<OutputId>(known.flatMap(({ data }) => data.supersedesOutputId ?? []));
  return known.filter(({ data }) => !superseded.has(data.outputId));
}

/** Checkpoints that were made while a step was due, before or between attempts at it. */
function checkpointsOn(graph: RunGraph, step: RunNode): readonly RunNode[] {
  return around(graph, step)
    .hung.filter(({ kind }) => kind === 'checkpoint')
    .sort((a, b) => a.createdIndex - b.createdIndex);
}
