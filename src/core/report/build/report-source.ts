import type { JsonValue } from '../../json/json-value.ts';
import type { SessionEvent } from '../../log/event.ts';
import { type ExecutionSnapshot, pendingStep } from '../../log/execution-snapshot.ts';
import type { Salvage } from '../../log/health.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, StepId, WorkflowHash } from '../../log/ids.ts';
import type { LoopPath } from '../../log/step-instance-key.ts';
import { namedStep as stepByName } from '../../sessions/due-step.ts';
import { nodeOf, type RunNode } from '../../views/run-graph.ts';
import type { ClosedRuns } from '../../views/run-status.ts';
import type { SessionView } from '../../views/session-view.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { ReportStep } from '../report.ts';

/** A session as it was read, up to where it can be trusted, with all that its events name. */
export type ReportSource = {
  readonly sessionId: SessionId;
  readonly salvage: Salvage | undefined;
  /** What people said beside the log. */
  readonly closed: ClosedRuns;
  readonly events: readonly SessionEvent[];
  readonly view: SessionView;
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
  /** What artifacts hold, where that is JSON. */
  readonly artifacts: ReadonlyMap<ArtifactDigest, JsonValue>;
};

/** The step that a node stands at; none where the run is complete or no step is chosen yet. */
export function stepAt(source: ReportSource, node: RunNode): ReportStep | null {
  const snapshot = source.snapshots.get(node.snapshotRef);
  const step = snapshot === undefined ? undefined : pendingStep(snapshot);
  return step === undefined ? null : reportStep(source, node.workflowHash, step);
}

/** What was done or tried to come to a node is the step that its parent stood at. */
export function attemptedStep(source: ReportSource, node: RunNode): ReportStep | null {
  return node.parentNodeId === null ? null : stepAt(source, nodeOf(source.view.graph, node.parentNodeId));
}

/** A step with its title and number. Values of a title are context, which a report does not tell. */
export function reportStep(
  { workflows }: ReportSource,
  hash: WorkflowHash,
  { stepId, loopPath }: { readonly stepId: StepId; readonly loopPath: LoopPath },
): ReportStep {
  const { title, position } = stepByName(stepId, workflows.get(hash));
  return {
    stepId,
    title,
    ...(position === undefined ? {} : { position }),
    rounds: loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })),
  };
}
