import type { Result } from 'neverthrow';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { FIRST_ATTEMPT } from '../core/token/attempt.ts';
import type { TokenMint } from '../core/token/mint-token.ts';
import type { TokenRefusal } from '../core/token/token-refusal.ts';
import type { AdvanceRecord } from '../core/views/advance-outcomes.ts';
import { sessionGone } from './find-node.ts';
import { giveReply } from './give-reply.ts';
import type { LoadedSession } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import type { ReadServices } from './services.ts';

export type Recorded = {
  readonly session: LoadedSession;
  readonly record: AdvanceRecord;
  readonly mint: TokenMint;
};

/** The reply that a recorded try was given, from the record alone: nothing is decided or rendered again. */
export async function replay(
  services: ReadServices,
  { session, record, mint }: Recorded,
): Promise<Result<GivenReply, TokenRefusal | StoreFailure>> {
  const { outcome } = record.data;
  const nodeId = outcome.kind === 'advanced' ? outcome.toNodeId : outcome.attemptNodeId;
  const stored = await services.sessions.storedReply(session.sessionId, record.eventIndex);
  return stored
    .mapErr((refusal) => (refusal.code === 'session_not_found' ? sessionGone(session.sessionId) : refusal))
    .map((reply) => {
      const at = { sessionId: session.sessionId, nodeId, attemptId: FIRST_ATTEMPT };
      return giveReply(reply, at, { view: session.view, mint });
    });
}
