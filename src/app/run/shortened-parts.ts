import type { JsonValue } from '../../core/json/json-value.ts';
import { GAPS_LISTED_MAX, GOAL_BYTES_MAX, RATIONALES_BYTES_MAX } from '../../core/log/budgets.ts';
import type { WarningFact } from '../../core/prompt/reply-warnings.ts';
import type { AcceptedAssessment } from '../../core/run/requirements/step-check.ts';
import { TRUNCATION_MARKER, truncate, utf8Length } from '../../core/text/utf8.ts';
import type { GapRecord } from '../../core/views/gaps.ts';

/** Assessments for a reply: every level, and as much of the rationales as fits. */
export function shownAssessments(accepted: readonly AcceptedAssessment[]): {
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
