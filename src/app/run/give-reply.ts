import { defined } from '../../core/json/defined.ts';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import { type AttemptId, eventIndexSchema, type NodeId, type SessionId } from '../../core/log/ids.ts';
import { fillReply, type GivenReply } from '../../core/log/operation/stored-reply.ts';
import { type MintableNode, mintToken, type TokenMint } from '../../core/token/node-token.ts';
import { FIRST_ATTEMPT } from '../../core/token/token.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';

type NamedNode = { readonly sessionId: SessionId; readonly nodeId: NodeId };

/** A node with the numbers of its next attempt and checkpoint. Both are 0 in the reply that created the node. */
export type ReplyNode = NamedNode & { readonly attemptId: AttemptId; readonly checkpointId: AttemptId };

export type Minting = { readonly view: SessionView; readonly mint: TokenMint };

/** A node that this call created. */
export function newNode(sessionId: SessionId, nodeId: NodeId): ReplyNode {
  return { sessionId, nodeId, attemptId: FIRST_ATTEMPT, checkpointId: FIRST_ATTEMPT };
}

/** Fills in the tokens of the reply's node. `again` is a token for another attempt at the previous step. */
export function giveReply(stored: StoredReply, at: ReplyNode, from: Minting & { readonly again?: string }): GivenReply {
  const node = mintable(at, from);
  return fillReply(stored, {
    sessionId: at.sessionId,
    ...defined({ againToken: from.again }),
    stateToken: mintToken(node, { kind: 'state' }, from.mint),
    ackToken: ackTokenOf(at, from),
    checkpointToken: mintToken(node, { kind: 'checkpoint', attemptId: at.checkpointId }, from.mint),
  });
}

export function ackTokenOf(at: NamedNode & { readonly attemptId: AttemptId }, from: Minting): string {
  return mintToken(mintable(at, from), { kind: 'ack', attemptId: at.attemptId }, from.mint);
}

export function checkpointTokenOf(at: NamedNode & { readonly checkpointId: AttemptId }, from: Minting): string {
  return mintToken(mintable(at, from), { kind: 'checkpoint', attemptId: at.checkpointId }, from.mint);
}

export function stateTokenOf(at: NamedNode, from: Minting): string {
  return mintToken(mintable(at, from), { kind: 'state' }, from.mint);
}

function mintable({ sessionId, nodeId }: NamedNode, { view }: Minting): MintableNode {
  const { runId, workflowHash, createdIndex } = nodeOf(view.graph, nodeId);
  return { sessionId, runId, nodeId, eventIndex: eventIndexSchema.parse(createdIndex), workflowHash };
}
