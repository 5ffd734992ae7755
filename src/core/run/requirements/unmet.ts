import { truncate } from '../../json/truncate.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import { contextKeySchema } from '../../log/ids.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { StepCheck, Unmet } from './step-check.ts';

/** What looking at one requirement brought. */
export type Found = Pick<StepCheck, 'unmet' | 'met'> & Partial<Pick<StepCheck, 'assessments' | 'unreadable'>>;

export function met(requirement: string): Found {
  return { unmet: [], met: [requirement] };
}

/** Something unmet whose words fit, whatever an author wrote. */
export function notMet(unmet: Unmet): Found {
  return { unmet: [withinBudgets(unmet)], met: [] };
}

export function withinBudgets(unmet: Unmet): Unmet {
  return {
    ...unmet,
    message: truncate(unmet.message, BLOCKER_MESSAGE_BYTES_MAX),
    suggestedFix: truncate(unmet.suggestedFix, BLOCKER_FIX_BYTES_MAX),
  };
}

export function stepPointer({ stepId }: CompiledStep): Unmet['pointer'] {
  return { kind: 'workflow_step', stepId };
}

/** Keys that cannot stand in a pointer are told in the message; the pointer is then the step. */
export function contextPointer(key: string, step: CompiledStep): Unmet['pointer'] {
  const safe = contextKeySchema.safeParse(key);
  return safe.success ? { kind: 'context_key', key: safe.data } : stepPointer(step);
}

/** As many whole items as fit between head and tail, then how many more there are. */
export function fitItems(
  items: readonly string[],
  { head, separator, bytesMax }: { readonly head: string; readonly separator: string; readonly bytesMax: number },
): string {
  for (let kept = items.length; kept > 0; kept--) {
    const more = items.length - kept;
    const text = `${head}${items.slice(0, kept).join(separator)}${more === 0 ? '' : `${separator}and ${more} more`}`;
    if (utf8Length(text) <= bytesMax) return text;
  }
  return truncate(`${head}${items[0] ?? ''}`, bytesMax);
}
