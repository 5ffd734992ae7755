import type { StoredReply } from '../../core/log/events/graph-events.ts';
import type { RunId } from '../../core/log/ids.ts';
import { hole } from '../../core/log/operation/stored-reply.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import { replyWarning, type WarningFact } from '../../core/prompt/reply-warnings.ts';
import type { AdvanceOutcome } from '../../core/run/decide/advance-run.ts';
import type { WorkflowIndex } from '../../core/workflow/compiled/workflow-index.ts';
import { listedGaps, shownAssessments } from './shortened-parts.ts';

/** The reply to an attempt. It is stored with the attempt, so it contains nothing that is only true now. */
export function advanceReply(
  { runId, index, wasClosed }: { readonly runId: RunId; readonly index: WorkflowIndex; readonly wasClosed: boolean },
  outcome: AdvanceOutcome,
): StoredReply {
  const { facts } = outcome;
  const { state } = outcome.snapshot.enginePayload;
  const isBlocked = outcome.kind === 'blocked';
  const listed = listedGaps(isBlocked ? [] : state.kind === 'complete' ? outcome.openGaps : outcome.openedGaps);
  const { accepted, warnings } = shownAssessments(isBlocked ? [] : outcome.check.assessments);
  const reopened: readonly WarningFact[] = wasClosed ? [{ code: 'run_closed', isReopened: true }] : [];
  const found = [...reopened, ...warningFacts(index, outcome), ...warnings, ...listed.warnings];
  return stepReply({
    runId,
    index,
    state,
    facts,
    lifecycle: 'advance',
    warnings: found.map((fact) => replyWarning(fact, facts.preferences.riskPolicy)),
    gaps: listed.gaps,
    ...(isBlocked ? { blocked: { blockers: outcome.blockers, unmet: outcome.unmet } } : {}),
    ...(accepted.length === 0 ? {} : { assessments: { accepted, isOneOfSeveral: outcome.hasSeveralAssessments } }),
  });
}

function skippedForUnset(outcome: AdvanceOutcome): readonly WarningFact[] {
  if (outcome.kind === 'blocked' || outcome.unset.length === 0) return [];
  const again = outcome.canTryAgain ? { again: hole('againToken') } : {};
  return [{ code: 'skipped_for_unset_value', skipped: outcome.unset, ...again }];
}

function warningFacts({ workflow }: WorkflowIndex, outcome: AdvanceOutcome): readonly WarningFact[] {
  const { check, isNoteCut, preferenceWarnings } = outcome;
  const degraded = check.observations.filter(
    ({ capability, status }) => status === 'unavailable' && workflow.capabilities[capability] === 'preferred',
  );
  return [
    ...(isNoteCut ? [{ code: 'note_cut' } as const] : []),
    ...check.unreadable.map(({ message }) => ({ code: 'unreadable_artifact', message }) as const),
    ...(check.unknownKinds.length === 0 ? [] : [{ code: 'unknown_artifact_kind', kinds: check.unknownKinds } as const]),
    ...degraded.map(({ capability }) => ({ code: 'capability_degraded', capability }) as const),
    ...preferenceWarnings,
    ...skippedForUnset(outcome),
  ];
}
