import type { JsonValue } from '../../../core/json/json-value.ts';
import { truncate } from '../../../core/json/truncate.ts';
import { GOAL_BYTES_MAX } from '../../../core/log/budgets.ts';
import type { WarningFact } from '../../../core/prompt/reply-warnings.ts';

/** The goal as a reply tells it: context may hold one of any kind and length. */
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
