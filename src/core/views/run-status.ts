import { assert } from '../assert.ts';
import type { Preferences } from '../log/autonomy.ts';
import type { BlockerReport } from '../log/blockers.ts';
import { type ExecutionSnapshot, isComplete } from '../log/execution-snapshot.ts';
import type { NodeId, RunId, SnapshotRef } from '../log/ids.ts';
import type { GapCategory } from '../log/reasons.ts';
import { type GapRecord, preferencesAt, unresolvedGaps } from './node-facts.ts';
import { nodeOf, type Run, type RunGraph, type RunNode } from './run-graph.ts';
import type { SessionView } from './session-view.ts';

export const RUN_STATUSES = ['in_progress', 'blocked', 'complete', 'complete_with_gaps'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export type StatusSources = {
  readonly snapshotOf: (ref: SnapshotRef) => ExecutionSnapshot;
  /** Used where no node of the line has preferences of its own. */
  readonly defaults: Preferences;
};

/** Gaps of these categories block a run; `unexpected` ones only report. */
const BLOCKING_CATEGORIES: readonly GapCategory[] = [
  'user_only_dependency',
  'contract_violation',
  'capability_missing',
];

/** The status of a run at its preferred tip. */
export function runStatus(view: SessionView, runId: RunId, sources: StatusSources): RunStatus {
  const tip = preferredTip(view.graph, runId);
  if (tip === undefined) return 'in_progress';
  if (isComplete(sources.snapshotOf(tip.snapshotRef))) {
    return unresolvedGaps(view.gaps, tip.nodeId).some(isCritical) ? 'complete_with_gaps' : 'complete';
  }
  const { autonomy } = preferencesAt(view.preferences, tip.nodeId) ?? sources.defaults;
  if (autonomy === 'full_auto_never_stop' && !holdsGate(view, tip)) return 'in_progress';
  return isHeldUp(view, tip) ? 'blocked' : 'in_progress';
}

/** Whether the newest attempt waits for a person on a channel of their own, which blocks a run in any mode. */
function holdsGate(view: SessionView, { nodeId }: RunNode): boolean {
  return blockersAt(view, nodeId).some(({ details }) => details?.['approval'] !== undefined);
}

/** The blockers of a blocked attempt, also at its checkpoints. Its outcome is recorded at the node that was tried. */
export function blockersAt({ graph, advances }: SessionView, nodeId: NodeId): BlockerReport {
  const attempt = nodeOf(graph, nodeOf(graph, nodeId).hostNodeId);
  if (attempt.parentNodeId === null) return [];
  for (const { data } of advances.get(attempt.parentNodeId)?.values() ?? []) {
    if (data.outcome.kind === 'blocked' && data.outcome.attemptNodeId === attempt.nodeId) return data.outcome.blockers;
  }
  return [];
}

/** A checkpoint does not unblock a run, so the node where it was made counts. */
function isHeldUp(view: SessionView, tip: RunNode): boolean {
  const host = nodeOf(view.graph, tip.hostNodeId);
  if (host.kind === 'blocked_attempt') return true;
  return unresolvedGaps(view.gaps, tip.nodeId).some((gap) => isBlockingGapOf(host.nodeId, gap));
}

function isBlockingGapOf(nodeId: NodeId, gap: GapRecord): boolean {
  return gap.scope.nodeId === nodeId && isCritical(gap) && BLOCKING_CATEGORIES.includes(gap.data.reason.category);
}

function isCritical({ data }: GapRecord): boolean {
  return data.severity === 'critical';
}

/** Runs that the user has closed, each with the index of the session's last event at that time. */
export type ClosedRuns = ReadonlyMap<RunId, number>;

/** Whether a run is closed. Continuing it reopens it, because then it has activity after it was closed. */
export function isClosed(
  closed: ClosedRuns,
  { runId, lastActivityIndex }: { readonly runId: RunId; readonly lastActivityIndex: number },
): boolean {
  return lastActivityIndex <= (closed.get(runId) ?? -1);
}

/** Nodes without a step below them, in order of creation. Blocked attempts and checkpoints do not end a tip. */
export function tips(graph: RunGraph, runId: RunId): readonly RunNode[] {
  return [...runOf(graph, runId).tips].map((nodeId) => nodeOf(graph, nodeId));
}

/** How many branches a run has: its tips of kind step. */
export function branchCount(graph: RunGraph, runId: RunId): number {
  return runOf(graph, runId).branchCount;
}

/**
 * Where a run continues: the tip with the latest activity on it or above it, then the newest. All tips at or below the
 * last touched node share the highest activity, so the newest of them wins. The newest node of that subtree has no
 * children, hence it is a tip: it is the answer. A run without nodes has none.
 */
export function preferredTip(graph: RunGraph, runId: RunId): RunNode | undefined {
  const { lastTouchedNodeId, newestNodeId } = runOf(graph, runId);
  if (lastTouchedNodeId === undefined || newestNodeId === undefined) return undefined;
  const touched = nodeOf(graph, lastTouchedNodeId);
  const newest = nodeOf(graph, newestNodeId);
  // An advance touches its source right after it made the run's newest node, so this nearly always settles it.
  return isAtOrBelow(graph, newest, touched) ? newest : newestOf(subtree(graph, touched));
}

/** The preferred tip at or below a node: where the work from this node continued. */
export function preferredTipBelow(graph: RunGraph, nodeId: NodeId): RunNode {
  const top = nodeOf(graph, nodeId);
  // Where the run was last touched at or below the node, it is the preferred tip of the whole run.
  const { lastTouchedNodeId } = runOf(graph, top.runId);
  const last = lastTouchedNodeId === undefined ? top : nodeOf(graph, lastTouchedNodeId);
  if (isAtOrBelow(graph, last, top)) return preferredTip(graph, top.runId) ?? top;
  const below = subtree(graph, top);
  const touched = below.reduce((a, b) => (b.touchedIndex > a.touchedIndex ? b : a), top);
  // Activity above the node counts for all its tips alike.
  const isTouchedAbove = ancestors(graph, top).some(({ touchedIndex }) => touchedIndex > touched.touchedIndex);
  return newestOf(isTouchedAbove ? below : subtree(graph, touched));
}

function runOf(graph: RunGraph, runId: RunId): Run {
  const run = graph.runs.get(runId);
  assert(run !== undefined, `${runId} is not in the log`);
  return run;
}

/** A node is always created after those above it, so the climb stops at the age of `top`. */
function isAtOrBelow(graph: RunGraph, node: RunNode, top: RunNode): boolean {
  let at = node;
  while (at.createdIndex > top.createdIndex && at.parentNodeId !== null) at = nodeOf(graph, at.parentNodeId);
  return at.nodeId === top.nodeId;
}

function ancestors(graph: RunGraph, node: RunNode): readonly RunNode[] {
  const above: RunNode[] = [];
  for (let at = node; at.parentNodeId !== null; ) {
    at = nodeOf(graph, at.parentNodeId);
    above.push(at);
  }
  return above;
}

function subtree(graph: RunGraph, top: RunNode): readonly RunNode[] {
  const found: RunNode[] = [top];
  // The list grows while it is walked: every node found brings its children.
  for (const node of found) for (const child of node.children) found.push(nodeOf(graph, child));
  return found;
}

/** No two nodes share an index, so the index alone decides. */
function newestOf(nodes: readonly RunNode[]): RunNode {
  return nodes.reduce((a, b) => (b.createdIndex > a.createdIndex ? b : a));
}
