import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { GAPS_LISTED_MAX, GOAL_BYTES_MAX, RATIONALES_BYTES_MAX } from '../../core/log/budgets.ts';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import type { RunId } from '../../core/log/ids.ts';
import { hole } from '../../core/log/operation/stored-reply.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import type { ReplyParts } from '../../core/prompt/reply-parts.ts';
import { replyWarning } from '../../core/prompt/reply-warnings.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { keysOfSecrets } from '../../core/report/redact/redact-report.ts';
import { type AdvanceOutcome, stepChecks } from '../../core/run/decide/advance-run.ts';
import type { AcceptedAssessment } from '../../core/run/requirements/requirement.ts';
import type { ModeCap } from '../../core/settings/settings-in-effect.ts';
import { TRUNCATION_MARKER, truncate, utf8Length } from '../../core/text/utf8.ts';
import type { EvidenceLine, RecordedCheck } from '../../core/views/line-checks.ts';
import type { GapRecord } from '../../core/views/node-facts.ts';
import type { LinePosition } from '../../core/views/session-view.ts';
import type { WorkflowIndex } from '../../core/workflow/compiled/workflow-index.ts';

type ReplyPlace = {
  readonly runId: RunId;
  readonly index: WorkflowIndex;
  /** The line of the node at which the attempt was made. */
  readonly line: LinePosition;
  readonly wasClosed: boolean;
  /** How many attempts at this step were blocked in a row, this one included; waiting for a person does not count. */
  readonly attempts: number;
  /** What lowered the mode that the call asked for. */
  readonly cap?: ModeCap | undefined;
  /** The checks of the steps that were done before this one. */
  readonly earlierChecks: readonly RecordedCheck[];
  /** What people answered and commands showed, for the last reply. */
  readonly evidence: readonly EvidenceLine[];
  /** Accepted artifacts and comments of people that the next prompt shows. */
  readonly past: Pick<ReplyParts, 'artifacts' | 'comments'>;
  /** What was noticed about the workflow file. */
  readonly noticed: readonly WarningFact[];
  /** What is to be said about the context of the call, and about preferences that were changed from outside. */
  readonly outside: readonly WarningFact[];
};

/** The reply to an attempt. It is stored with the attempt, so it contains nothing that is only true now. */
export function advanceReply(place: ReplyPlace, outcome: AdvanceOutcome): StoredReply {
  const { runId, index, line, wasClosed, attempts, cap } = place;
  const { facts } = outcome;
  const { state } = outcome.snapshot.enginePayload;
  const isBlocked = outcome.kind === 'blocked';
  const listed = listedGaps(
    isBlocked ? [] : state.kind === 'complete' ? outcome.openGaps : outcome.openedGaps.filter(isNews),
  );
  const { accepted, warnings } = shownAssessments(isBlocked ? [] : outcome.check.assessments);
  const reopened: readonly WarningFact[] = wasClosed ? [{ code: 'run_closed', isReopened: true }] : [];
  const found = [
    ...reopened,
    ...place.noticed,
    ...place.outside,
    ...cappedMode(cap),
    ...warningFacts(index, outcome),
    ...warnings,
    ...listed.warnings,
  ];
  return stepReply({
    runId,
    index,
    state,
    facts,
    line: isBlocked ? line : { stepNumber: line.stepNumber + 1, skipped: [...line.skipped, ...outcome.skipped] },
    lifecycle: 'advance',
    warnings: found.map((fact) => replyWarning(fact, facts.preferences.riskPolicy)),
    gaps: listed.gaps,
    ...(isBlocked ? { blocked: { blockers: outcome.blockers, unmet: outcome.unmet, attempts } } : {}),
    ...(isBlocked ? {} : { checks: shownChecks(place, outcome), evidence: place.evidence, ...place.past }),
    ...(accepted.length === 0 ? {} : { assessments: { accepted, isOneOfSeveral: outcome.hasSeveralAssessments } }),
  });
}

/** A secret in context is reported with the call that sets it, and not again while it stays the same. */
export function secretsIn(changed: JsonObject): readonly WarningFact[] {
  const keys = Object.keys(changed).length === 0 ? [] : keysOfSecrets(changed);
  return keys.length === 0 ? [] : [{ code: 'secret_in_context', keys }];
}

export function cappedMode(cap: ModeCap | undefined): readonly WarningFact[] {
  return cap === undefined ? [] : [{ code: 'mode_capped', ...cap }];
}

/** The checks of the step just done; at the end of a run those of all steps. */
function shownChecks({ earlierChecks }: ReplyPlace, outcome: AdvanceOutcome): readonly RecordedCheck[] {
  const own = stepChecks(outcome);
  return outcome.snapshot.enginePayload.state.kind === 'complete' ? [...earlierChecks, ...own] : own;
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
    ...check.unreadable.map(({ message, corrected }) => ({ code: 'unreadable_artifact', message, corrected }) as const),
    ...(check.blankLeftOut.length === 0 ? [] : [{ code: 'blank_left_out', units: check.blankLeftOut } as const]),
    ...(check.unknownKinds.length === 0 ? [] : [{ code: 'unknown_artifact_kind', kinds: check.unknownKinds } as const]),
    ...degraded.map(({ capability }) => ({ code: 'capability_degraded', capability }) as const),
    ...preferenceWarnings,
    ...skippedForUnset(outcome),
  ];
}

/** Assessments for a reply: every level, and as much of the rationales as fits. */
function shownAssessments(accepted: readonly AcceptedAssessment[]): {
  readonly accepted: readonly AcceptedAssessment[];
  readonly warnings: readonly WarningFact[];
} {
  let bytesLeft = RATIONALES_BYTES_MAX;
  let isCut = false;
  const shownReason = (rationale: string): { readonly rationale?: string } => {
    const text = bytesLeft < TRUNCATION_MARKER.length ? '' : truncate(rationale, bytesLeft);
    bytesLeft -= utf8Length(text);
    isCut ||= text !== rationale;
    return text === '' ? {} : { rationale: text };
  };
  const shown = accepted.map((assessment) => ({
    ...assessment,
    dimensions: assessment.dimensions.map(({ rationale, ...dimension }) => ({
      ...dimension,
      ...(rationale === undefined ? {} : shownReason(rationale)),
    })),
  }));
  return { accepted: shown, warnings: isCut ? [{ code: 'text_cut', parts: ['rationales of assessments'] }] : [] };
}

type Gap = GapRecord['data'];

/** What the agent decided itself is listed once, when the run is complete. */
function isNews({ severity }: Gap): boolean {
  return severity !== 'info';
}

/** Gaps for a reply, up to a limit; then the number of the rest. */
export function listedGaps(gaps: readonly Gap[]): {
  readonly gaps: readonly Gap[];
  readonly warnings: readonly WarningFact[];
} {
  const more = gaps.length - GAPS_LISTED_MAX;
  if (more <= 0) return { gaps, warnings: [] };
  return { gaps: gaps.slice(0, GAPS_LISTED_MAX), warnings: [{ code: 'text_cut', parts: [`${more} more open gaps`] }] };
}

/** The goal for a reply. The context may hold a value of any type and length. */
export function shownGoal(
  goal: JsonValue | undefined,
  bytesMax = GOAL_BYTES_MAX,
): {
  readonly text?: string;
  readonly warnings: readonly WarningFact[];
} {
  if (typeof goal !== 'string' || goal.trim() === '') return { warnings: [] };
  const text = truncate(goal, bytesMax);
  return { text, warnings: text === goal ? [] : [{ code: 'text_cut', parts: ['the goal'] }] };
}

/** What the caller should know about the characters of notes. Halves of characters cannot be stored. */
export function oddCharacters(notes: string | undefined): readonly WarningFact[] {
  const found = [
    ...(notes?.isWellFormed() === false ? ['half_character' as const] : []),
    ...(notes?.includes('\0') === true ? ['nul' as const] : []),
  ];
  return found.length === 0 ? [] : [{ code: 'notes_characters', found }];
}
