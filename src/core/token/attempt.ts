import { type AttemptId, attemptIdSchema } from '../log/ids.ts';

/** The attempt in the reply that creates a node. */
export const FIRST_ATTEMPT: AttemptId = attemptIdSchema.parse(0);

/**
 * The attempt that rehydrating a node offers: as many as are recorded there already. It follows from the log alone, so
 * asking twice gives the same token, and two agents that hold it make one advance.
 */
export function nextAttempt(recorded: { readonly size: number }): AttemptId {
  return attemptIdSchema.parse(recorded.size);
}
