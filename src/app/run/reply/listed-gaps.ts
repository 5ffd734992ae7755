import { GAPS_LISTED_MAX } from '../../../core/log/budgets.ts';
import type { WarningFact } from '../../../core/prompt/reply-warnings.ts';
import type { GapRecord } from '../../../core/views/gaps.ts';

type Gap = GapRecord['data'];

/** Gaps as a reply lists them: all there are, up to more than anybody reads; then it is said how many more there are. */
export function listedGaps(gaps: readonly Gap[]): {
  readonly gaps: readonly Gap[];
  readonly warnings: readonly WarningFact[];
} {
  const more = gaps.length - GAPS_LISTED_MAX;
  if (more <= 0) return { gaps, warnings: [] };
  return { gaps: gaps.slice(0, GAPS_LISTED_MAX), warnings: [{ code: 'text_cut', parts: [`${more} more open gaps`] }] };
}
