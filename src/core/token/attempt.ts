import { err, ok, type Result } from 'neverthrow';
import { ATTEMPT_MAX } from '../log/budgets.ts';
import { type AttemptId, attemptIdSchema } from '../log/ids.ts';

/** The attempt in the reply that creates a node. */
export const FIRST_ATTEMPT: AttemptId = attemptIdSchema.parse(0);

/** A node was tried more often than a token can count; the way on is from another node. */
export type AttemptsUsedUp = { readonly code: 'attempts_used_up'; readonly attemptsMax: number };

/**
 * The attempt that rehydrating a node offers: as many as are recorded there already. It follows from the log alone, so
 * asking twice gives the same token, and two agents that hold it make one advance.
 */
export function nextAttempt(recorded: { readonly size: number }): Result<AttemptId, AttemptsUsedUp> {
  if (recorded.size > ATTEMPT_MAX) return err({ code: 'attempts_used_up', attemptsMax: ATTEMPT_MAX + 1 });
  return ok(attemptIdSchema.parse(recorded.size));
}
