import { isComplete } from '../../log/execution-snapshot.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { branchName, pathTo } from '../../sessions/run-lines.ts';
import { nodeOf, type RunGraph, type RunNode } from '../../views/run-graph.ts';
import { preferredTip, preferredTipBelow } from '../../views/run-status.ts';
import type { ReportBranch } from '../report.ts';
import { type ReportSource, stepAt } from './report-source.ts';

/** The branches of a run, and the first branch of each node. */
export type Branches = {
  readonly branches: readonly ReportBranch[];
  readonly branchOf: ReadonlyMap<NodeId, string>;
};

/** The branches of a run: first the one that was continued last, then the others in the order they were started. */
export function branchesOf(source: ReportSource, runId: RunId): Branches {
  const { graph } = source.view;
  const main = preferredTip(graph, runId);
  if (main === undefined) return { branches: [], branchOf: new Map() };
  const nodes = [...graph.nodes.values()].filter((node) => node.runId === runId);
  const branches: ReportBranch[] = [];
  const branchOf = new Map<NodeId, string>();
  const addBranch = (name: string, tip: RunNode) => {
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
  addBranch('main', main);
  // Nodes are in order of creation, so the first step that is on no branch yet starts one.
  for (const { kind, nodeId } of nodes) {
    if (kind !== 'step' || branchOf.has(nodeId)) continue;
    addBranch(branchName(branches.length - 1), preferredTipBelow(graph, nodeId));
  }
  // Attempts and checkpoints that were not continued belong to the branch of their parent.
  for (const { nodeId, parentNodeId } of nodes) {
    if (!branchOf.has(nodeId) && parentNodeId !== null) branchOf.set(nodeId, branchOf.get(parentNodeId) ?? 'main');
  }
  return { branches, branchOf };
}

/** The nodes that a branch saw: on its path, and attempts and checkpoints made before it continued from them. */
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
