import type { StoredReply } from '../core/log/events/advance-recorded.ts';
import type { AttemptId } from '../core/log/ids.ts';
import { eventIndexSchema, type NodeId, type SessionId } from '../core/log/ids.ts';
import { fillReply, type GivenReply } from '../core/log/operation/stored-reply.ts';
import { mintToken, type TokenMint } from '../core/token/mint-token.ts';
import { nodeOf } from '../core/views/run-graph.ts';
import type { SessionView } from '../core/views/session-view.ts';

export type ReplyNode = { readonly sessionId: SessionId; readonly nodeId: NodeId; readonly attemptId: AttemptId };

/** Fills a reply with the tokens of the node it is about. */
export function giveReply(
  stored: StoredReply,
  at: ReplyNode,
  from: { view: SessionView; mint: TokenMint },
): GivenReply {
  const { runId, workflowHash, createdIndex } = nodeOf(from.view.graph, at.nodeId);
  const eventIndex = eventIndexSchema.parse(createdIndex);
  const node = { sessionId: at.sessionId, runId, nodeId: at.nodeId, eventIndex, workflowHash };
  return fillReply(stored, {
    sessionId: at.sessionId,
    stateToken: mintToken(node, { kind: 'state' }, from.mint),
    ackToken: mintToken(node, { kind: 'ack', attemptId: at.attemptId }, from.mint),
  });
}
