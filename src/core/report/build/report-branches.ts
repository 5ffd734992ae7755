import { isComplete } from '../../log/execution-snapshot.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { namedLines, pathTo } from '../../sessions/run-lines.ts';
import { nodeOf, type RunGraph, type RunNode } from '../../views/run-graph.ts';
import type { ReportBranch } from '../report.ts';
import { type ReportSource, stepAt } from './report-source.ts';

/** The branches of a run, and the branch that each node belongs to. */
export type Branches = {
  readonly branches: readonly ReportBranch[];
  readonly branchOf: ReadonlyMap<NodeId, string>;
};

/** The branches of a run in the order they began. */
export function branchesOf(source: ReportSource, runId: RunId): Branches {
  const { graph } = source.view;
  const branchOf = new Map<NodeId, string>();
  const branches = namedLines(graph, runId).map(({ name, steps, hung, tip, isCurrent }): ReportBranch => {
    const own = [...steps, ...[...hung.values()].flat()];
    for (const { nodeId } of own) branchOf.set(nodeId, name);
    const first = own.reduce((a, b) => (b.createdIndex < a.createdIndex ? b : a));
    const snapshot = source.snapshots.get(tip.snapshotRef);
    return {
      name,
      ...(isCurrent ? { isCurrent } : {}),
      forkNodeId: first.parentNodeId,
      tipNodeId: tip.nodeId,
      isComplete: snapshot !== undefined && isComplete(snapshot),
      waiting: stepAt(source, tip),
      line: lineOf(graph, pathTo(graph, tip)),
    };
  });
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
