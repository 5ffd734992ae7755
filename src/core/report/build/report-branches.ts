import { isComplete } from '../../log/execution-snapshot.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { branchName } from '../../sessions/run-lines.ts';
import { nodeOf, type RunGraph, type RunNode } from '../../views/run-graph.ts';
import { preferredTip, preferredTipBelow } from '../../views/tips.ts';
import type { ReportBranch } from '../report.ts';
import { type ReportSource, stepAt } from './report-source.ts';

/** The lines of a run, and the first of them that each node belongs to. */
export type Branches = {
  readonly branches: readonly ReportBranch[];
  readonly branchOf: ReadonlyMap<NodeId, string>;
};

/** Reads the lines of a run off its graph: the one where work went on last, then the others as they were begun. */
export function branchesOf(source: ReportSource, runId: RunId): Branches {
  const { graph } = source.view;
  const main = preferredTip(graph, runId);
  if (main === undefined) return { branches: [], branchOf: new Map() };
  const nodes = [...graph.nodes.values()].filter((node) => node.runId === runId);
  const branches: ReportBranch[] = [];
  const branchOf = new Map<NodeId, string>();
  const addLine = (name: string, tip: RunNode) => {
    const path = pathTo(graph, tip);
    const own = path.filter(({ nodeId }) => !branchOf.has(nodeId));
    for (const { nodeId } of own) branchOf.set(nodeId, name);
    const snapshot = source.snapshots.get(tip.snapshotRef);
    branches.push({
      name,
      forkNodeId: own[0]?.parentNodeId ?? null,
      tipNodeId: tip.nodeId,
      isComplete: snapshot !== undefined && isComplete(snapshot),
      waiting: stepAt(source, tip),
      line: lineOf(graph, path),
    });
  };
  addLine('main', main);
  // A step comes after those above it, so the first that is on no line yet begins one.
  for (const { kind, nodeId } of nodes) {
    if (kind !== 'step' || branchOf.has(nodeId)) continue;
    addLine(branchName(branches.length - 1), preferredTipBelow(graph, nodeId));
  }
  // What hangs on a line without being part of one: attempts and checkpoints that nobody went on from.
  for (const { nodeId, parentNodeId } of nodes) {
    if (!branchOf.has(nodeId) && parentNodeId !== null) branchOf.set(nodeId, branchOf.get(parentNodeId) ?? 'main');
  }
  return { branches, branchOf };
}

function pathTo(graph: RunGraph, tip: RunNode): readonly RunNode[] {
  const path = [tip];
  for (let at = tip; at.parentNodeId !== null; ) {
    at = nodeOf(graph, at.parentNodeId);
    path.push(at);
  }
  return path.reverse();
}

/** A line saw what hung on its nodes when it went on from them; at its end it sees all that hangs there. */
function lineOf(graph: RunGraph, path: readonly RunNode[]): NodeId[] {
  const seen: RunNode[] = [];
  for (const [i, node] of path.entries()) {
    const next = path[i + 1];
    seen.push(node, ...hangingOn(graph, node, next));
  }
  return seen.sort((a, b) => a.createdIndex - b.createdIndex).map(({ nodeId }) => nodeId);
}

function hangingOn(graph: RunGraph, node: RunNode, next: RunNode | undefined): readonly RunNode[] {
  const found: RunNode[] = [];
  const stack = [node];
  for (const at of stack) {
    for (const childId of at.children) {
      const child = nodeOf(graph, childId);
      const isSeen = child.kind !== 'step' && (next === undefined || child.createdIndex < next.createdIndex);
      if (!isSeen || child.nodeId === next?.nodeId) continue;
      found.push(child);
      stack.push(child);
    }
  }
  return found;
}
