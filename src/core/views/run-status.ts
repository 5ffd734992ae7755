import type { Preferences } from '../log/autonomy.ts';
import { type ExecutionSnapshot, isComplete } from '../log/execution-snapshot.ts';
import type { NodeId, RunId, SnapshotRef } from '../log/ids.ts';
import type { GapCategory } from '../log/reasons.ts';
import { type GapRecord, unresolvedGaps } from './gaps.ts';
import { preferencesAt } from './preferences-in-force.ts';
import { nodeOf, type RunNode } from './run-graph.ts';
import type { SessionView } from './session-view.ts';
import { preferredTip } from './tips.ts';

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
  if (autonomy === 'full_auto_never_stop') return 'in_progress';
  return isHeldUp(view, tip) ? 'blocked' : 'in_progress';
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
