import { pendingStep } from '../../log/execution-snapshot.ts';
import type { StepId, WorkflowHash } from '../../log/ids.ts';
import type { LoopPath } from '../../log/step-instance-key.ts';
import { namedStep as stepByName } from '../../sessions/due-step.ts';
import { nodeOf, type RunNode } from '../../views/run-graph.ts';
import type { ReportStep } from '../report.ts';
import type { ReportSource } from './report-source.ts';

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
