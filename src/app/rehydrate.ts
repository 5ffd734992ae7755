import { err, type Result } from 'neverthrow';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { stepReply } from '../core/prompt/step-reply.ts';
import { type AttemptsUsedUp, nextAttempt } from '../core/token/attempt.ts';
import type { TokenRefusal } from '../core/token/token-refusal.ts';
import { attemptCount } from '../core/views/advance-outcomes.ts';
import { findNode } from './find-node.ts';
import { giveReply } from './give-reply.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import { readPlace } from './read-place.ts';
import type { ReadServices } from './services.ts';

export type RehydrateRefusal = AttemptsUsedUp | TokenRefusal | StoreFailure;

/** Gives the step of a node again. It is handed no way to write. */
export async function rehydrate(
  services: ReadServices,
  request: { readonly stateToken: string },
): Promise<Result<GivenReply, RehydrateRefusal>> {
  const found = await findNode(services, { text: request.stateToken, slot: 'stateToken' });
  if (found.isErr()) return err(found.error);
  const { session, target, keys } = found.value;
  const place = await readPlace(services, session, target);
  if (place.isErr()) return err(place.error);
  return nextAttempt({ size: attemptCount(session.view.advances, target.nodeId) }).map((attemptId) => {
    const { workflow, snapshot, preferences } = place.value;
    const { state } = snapshot.enginePayload;
    const reply = stepReply({ runId: target.runId, workflow, state, preferences, warnings: [] });
    const mint = { ...keys, form: services.tokenForm };
    return giveReply(reply, { ...target, attemptId }, { view: session.view, mint });
  });
}
