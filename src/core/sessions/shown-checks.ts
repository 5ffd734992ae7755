import { isAtLeast } from '../log/autonomy.ts';
import { judgeRecord } from '../run/evidence/judge-check.ts';
import type { Attestation } from '../views/attestations.ts';
import { dueRuns } from '../views/line-checks.ts';
import type { RunNode } from '../views/run-graph.ts';
import type { SessionView } from '../views/session-view.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { checkIn, type ShownCheck } from './run-standing.ts';
import { blockAbove } from './session-summary.ts';

/** The checks of the step that is due at a tip which commands have shown well enough, if a block lacks them: since then. */
export function shownChecks(
  view: SessionView,
  tip: RunNode | undefined,
  workflow: CompiledWorkflow | undefined,
): readonly ShownCheck[] {
  if (tip === undefined) return [];
  const { blockers, step, last } = blockAbove(view, tip);
  const lacking = new Set(blockers.map(checkIn));
  const blockedAt = last?.createdIndex ?? -1;
  return dueRuns(view, step.nodeId).flatMap((ran) => {
    const shown = shownBy(ran, step, workflow);
    return shown !== undefined && (!lacking.has(shown.checkId) || ran.eventIndex > blockedAt) ? [shown] : [];
  });
}

/** The check that a run of a command has shown well enough, as far as the record of that run shows. */
function shownBy(
  { data: { subject, statement: run, by } }: Attestation,
  { snapshotRef }: RunNode,
  workflow: CompiledWorkflow | undefined,
): ShownCheck | undefined {
  if (subject.kind !== 'step' || subject.snapshotRef !== snapshotRef || run.kind !== 'check') return undefined;
  const { checkId } = run;
  const step = workflow?.steps.find(({ stepId }) => stepId === subject.stepId);
  const check = step?.checks?.find((one) => one.checkId === checkId);
  if (check === undefined) return undefined;
  const verdict = judgeRecord(check, { run, via: by.via });
  if (verdict.kind !== 'counts' || !isAtLeast(verdict.grade, check.minimum)) return undefined;
  return { checkId, grade: verdict.grade };
}
