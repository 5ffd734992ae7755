import { pendingStep } from '../../log/execution-snapshot.ts';
import type { StepId, WorkflowHash } from '../../log/ids.ts';
import type { LoopPath } from '../../log/step-instance-key.ts';
import type { RunNode } from '../../views/run-graph.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { ReportStep } from '../report.ts';
import type { ReportSource } from './report-source.ts';

/** The step that a node stands at; none where the run is complete or no step is chosen yet. */
export function stepAt(source: ReportSource, node: RunNode): ReportStep | null {
  const snapshot = source.snapshots.get(node.snapshotRef);
  const step = snapshot === undefined ? undefined : pendingStep(snapshot);
  return step === undefined ? null : namedStep(source, node.workflowHash, step);
}

/** A step with its title. */
export function namedStep(
  { workflows }: ReportSource,
  hash: WorkflowHash,
  { stepId, loopPath }: { readonly stepId: StepId; readonly loopPath: LoopPath },
): ReportStep {
  const workflow = workflows.get(hash);
  return {
    stepId,
    title: (workflow === undefined ? undefined : titlesOf(workflow).get(stepId)) ?? stepId,
    rounds: loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })),
  };
}

const known = new WeakMap<CompiledWorkflow, ReadonlyMap<string, string>>();

function titlesOf(workflow: CompiledWorkflow): ReadonlyMap<string, string> {
  const titles = known.get(workflow) ?? new Map(workflow.steps.map(({ stepId, title }) => [stepId as string, title]));
  known.set(workflow, titles);
  return titles;
}
