import type { StoredReply } from '../../core/log/events/graph-events.ts';
import { type AttemptId, eventIndexSchema, type NodeId, type SessionId } from '../../core/log/ids.ts';
import { fillReply, type GivenReply } from '../../core/log/operation/stored-reply.ts';
import { type MintableNode, mintToken, type TokenMint } from '../../core/token/node-token.ts';
import { FIRST_ATTEMPT } from '../../core/token/token.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';

type NamedNode = { readonly sessionId: SessionId; readonly nodeId: NodeId };

/** A node and the number of the next try at it, and of the next checkpoint; both are 0 in the reply that made the node. */
export type ReplyNode = NamedNode & { readonly attemptId: AttemptId; readonly checkpointId: AttemptId };

export type Minting = { readonly view: SessionView; readonly mint: TokenMint };

/** A node that the call itself made. */
export function newNode(sessionId: SessionId, nodeId: NodeId): ReplyNode {
  return { sessionId, nodeId, attemptId: FIRST_ATTEMPT, checkpointId: FIRST_ATTEMPT };
}

/** Fills a reply with the tokens of the node it is about; `again` is one for another try at the step before it. */
export function giveReply(stored: StoredReply, at: ReplyNode, from: Minting & { readonly again?: string }): GivenReply {
  const node = mintable(at, from);
  return fillReply(stored, {
    sessionId: at.sessionId,
    ...(from.again === undefined ? {} : { againToken: from.again }),
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
