import type { NodeId, OutputId } from '../log/ids.ts';
import { type NodeOutput, type OutputsView, outputHistory } from '../views/node-facts.ts';
import { nodeOf, type RunGraph, type RunNode } from '../views/run-graph.ts';
import type { SessionView } from '../views/session-view.ts';
import { pathTo } from './run-lines.ts';

/** The outputs of one step of a line, or of a checkpoint before it. */
export type LineOutputs = {
  /** The node where the step was due. */
  readonly dueAt: NodeId;
  readonly kind: 'step' | 'checkpoint';
  readonly outputs: readonly NodeOutput[];
  /** Outputs that a later one replaced; empty unless they were asked for. */
  readonly superseded: ReadonlySet<OutputId>;
};

/** The end of a line: a node with everything that was added to it, or only with what it had when it was created. */
export type LineEnd = {
  readonly nodeId: NodeId;
  readonly isAsMade?: boolean;
  /** Whether outputs that were replaced later are included. */
  readonly isAll?: boolean;
};

/**
 * The outputs of a line, in order: the ones that a recap of its last node uses, and artifacts by the same rules. Outputs
 * that were added to a node after the line continued from it do not count, and neither do blocked attempts.
 */
export function lineOutputs(view: SessionView, line: LineEnd): readonly LineOutputs[] {
  const { nodeId, isAsMade = false, isAll = false } = line;
  const { graph, outputs } = view;
  const stretches = stretchesTo(graph, nodeOf(graph, nodeId));
  return stretches.flatMap(({ step, hosts }, i): readonly LineOutputs[] => {
    const before = stretches[i + 1]?.step.createdIndex ?? Number.POSITIVE_INFINITY;
    const dueAt = stretches[i - 1]?.step.nodeId ?? step.nodeId;
    // The next step is due at the node that this step created, so checkpoints there belong to the next step.
    const isLastAsMade = isAsMade && i === stretches.length - 1;
    const saved = isLastAsMade ? [] : checkpointsOn(graph, step).filter(({ hostNodeId }) => hosts.has(hostNodeId));
    const places: readonly LineOutputs[] = [
      { dueAt, kind: 'step', ...outputsBefore(outputs, step.nodeId, { before, isAll }) },
      ...saved.map((one): LineOutputs => {
        return { dueAt: step.nodeId, kind: 'checkpoint', ...outputsBefore(outputs, one.nodeId, { before, isAll }) };
      }),
    ];
    return places.filter((place) => place.outputs.length > 0);
  });
}

/** A step of a line, and the nodes of the line before the next step. */
type Stretch = { readonly step: RunNode; readonly hosts: Set<NodeId> };

function stretchesTo(graph: RunGraph, node: RunNode): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const one of pathTo(graph, node)) {
    if (one.kind === 'step') stretches.push({ step: one, hosts: new Set() });
    stretches.at(-1)?.hosts.add(one.nodeId);
  }
  return stretches;
}

/** The outputs of a node before an event, without later corrections. */
function outputsBefore(
  outputs: OutputsView,
  nodeId: NodeId,
  { before, isAll }: { readonly before: number; readonly isAll: boolean },
): Pick<LineOutputs, 'outputs' | 'superseded'> {
  const known = outputHistory(outputs, nodeId)
    .map(({ output }) => output)
    .filter(({ eventIndex }) => eventIndex < before);
  const superseded = new Set<OutputId>(known.flatMap(({ data }) => data.supersedesOutputId ?? []));
  if (isAll) return { outputs: known, superseded };
  return { outputs: known.filter(({ data }) => !superseded.has(data.outputId)), superseded: new Set() };
}

/** Checkpoints that were made while a step was due, before or between attempts at it. */
function checkpointsOn(graph: RunGraph, step: RunNode): readonly RunNode[] {
  const found = [step];
  // The list grows while it is walked: attempts and checkpoints may hang on each other.
  for (const { children } of found) {
    for (const child of children) {
      const below = nodeOf(graph, child);
      if (below.kind !== 'step') found.push(below);
    }
  }
  return found.filter(({ kind }) => kind === 'checkpoint').sort((a, b) => a.createdIndex - b.createdIndex);
}
