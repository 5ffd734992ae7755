import { TRUNCATION_MARKER, truncate } from '../../core/json/truncate.ts';
import { RATIONALES_BYTES_MAX } from '../../core/log/budgets.ts';
import type { WarningFact } from '../../core/prompt/reply-warnings.ts';
import type { AcceptedAssessment } from '../../core/run/requirements/step-check.ts';
import { utf8Length } from '../../core/text/utf8.ts';

/** Assessments as a reply tells them: every level, and of the reasons as much as there is room for. */
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
