import { err, ok, type Result } from 'neverthrow';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { NodeId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { withIgnoredOutput } from '../../core/prompt/reply/replayed-reply.ts';
import type { TokenMint } from '../../core/token/node-token.ts';
import { type AttemptsUsedUp, nextAttempt } from '../../core/token/token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { type AdvanceRecord, attemptCount } from '../../core/views/advance-outcomes.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';
import { sessionGone } from './find-token-node.ts';
import { ackTokenOf, giveReply, newNode } from './give-reply.ts';

export type Recorded = {
  readonly session: LoadedSession;
  readonly record: AdvanceRecord;
  readonly mint: TokenMint;
  /** What came with the call that asks for it, without its tokens, and the digest of it. */
  readonly sent: JsonObject;
  readonly requestDigest: string;
};

/**
 * The reply that a recorded try was given, from the record alone: nothing is decided or rendered again. Whoever sends
 * something else with the same token is told so, and how to have it recorded after all.
 */
export async function replay(
  services: ReadServices,
  recorded: Recorded,
): Promise<Result<GivenReply, AttemptsUsedUp | TokenRefusal | StoreFailure>> {
  const { session, record, mint } = recorded;
  const { outcome } = record.data;
  const nodeId = outcome.kind === 'advanced' ? outcome.toNodeId : outcome.attemptNodeId;
  const stored = await services.sessions.storedReply(session.sessionId, record.eventIndex);
  if (stored.isErr()) {
    return err(stored.error.code === 'session_not_found' ? sessionGone(session.sessionId) : stored.error);
  }
  const from = { view: session.view, mint };
  const reply = giveReply(stored.value, newNode(session.sessionId, nodeId), { ...from, ...againToken(recorded) });
  // Who sends nothing has nothing that could be lost.
  const isNothing = Object.keys(recorded.sent).length === 0;
  if (isNothing || record.data.requestDigest === recorded.requestDigest) return ok(reply);
  const again = outcome.kind === 'advanced' ? record.scope.nodeId : nodeId;
  return freshAck(recorded, again).map((ackToken) => withIgnoredOutput(reply, { sent: recorded.sent, ackToken }));
}

/** It follows from the record alone, whatever was tried since, so that a replay says the same. */
function againToken({ session, record, mint }: Recorded): { readonly again?: string } {
  const { sessionId, view } = session;
  const { nodeId } = record.scope;
  return nextAttempt({ size: record.data.attemptId + 1 })
    .map((attemptId) => ({ again: ackTokenOf({ sessionId, nodeId, attemptId }, { view, mint }) }))
    .unwrapOr({});
}

function freshAck({ session, mint }: Recorded, nodeId: NodeId): Result<string, AttemptsUsedUp> {
  const { sessionId, view } = session;
  return nextAttempt({ size: attemptCount(view.advances, nodeId) }).map((attemptId) =>
    ackTokenOf({ sessionId, nodeId, attemptId }, { view, mint }),
  );
}
