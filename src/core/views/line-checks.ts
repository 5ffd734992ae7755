import type { NodeId } from '../log/ids.ts';
import type { AdvanceRecord } from './node-facts.ts';
import { nodeOf } from './run-graph.ts';
import type { SessionView } from './session-view.ts';

/** How well a check of a step was known to have passed when the step was done. */
export type RecordedCheck = NonNullable<AdvanceRecord['data']['checks']>[number];

/** The checks of the step that led to a node. */
export function checksAt({ graph, advances }: SessionView, nodeId: NodeId): readonly RecordedCheck[] {
  const { parentNodeId } = nodeOf(graph, nodeId);
  if (parentNodeId === null) return [];
  for (const { data } of advances.get(parentNodeId)?.values() ?? []) {
    if (data.outcome.kind === 'advanced' && data.outcome.toNodeId === nodeId) return data.checks ?? [];
  }
  return [];
}

/** The checks of all steps that were done on the way to a node, oldest first. */
export function checksOnLine(view: SessionView, nodeId: NodeId): readonly RecordedCheck[] {
  const line: (readonly RecordedCheck[])[] = [];
  for (let id: NodeId | null = nodeId; id !== null; id = nodeOf(view.graph, id).parentNodeId) {
    line.push(checksAt(view, id));
  }
  return line.reverse().flat();
}

/** A check with its grade, as people and agents read it. */
export function gradeWords({ checkId, minimum, grade }: Omit<RecordedCheck, 'stepId'>): string {
  if (grade === undefined) return `${checkId} not shown (must be ${minimum})`;
  return grade === 'verified' || grade === 'observed' || grade === minimum
    ? `${checkId} ${grade}`
    : `${checkId} only ${grade}`;
}
