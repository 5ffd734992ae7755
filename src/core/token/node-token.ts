import {
  type AttemptId,
  type EventIndex,
  type NodeId,
  type RunId,
  runTag,
  type SessionId,
  type WorkflowHash,
} from '../log/ids.ts';
import { FIRST_ATTEMPT } from './attempt.ts';
import { encodeCompactToken } from './compact-token.ts';
import { encodeJsonToken } from './json-token.ts';
import type { TokenKeys } from './keyring.ts';
import type { JsonTokenClaims, TokenForm } from './token.ts';

/** The node a token shall name, as the log knows it. */
export type MintableNode = {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
  /** Of the node's `node_created`. */
  readonly eventIndex: EventIndex;
  readonly workflowHash: WorkflowHash;
};

export type TokenPurpose =
  | { readonly kind: 'state' }
  | { readonly kind: 'ack' | 'checkpoint'; readonly attemptId: AttemptId };

/** Keys, and the form to write; compact unless told otherwise. */
export type TokenMint = TokenKeys & { readonly form?: TokenForm };

/** A token for a node. Equal input gives equal text: nothing is drawn or remembered. */
export function mintToken(node: MintableNode, purpose: TokenPurpose, mint: TokenMint): string {
  if (mint.form === 'json') return encodeJsonToken(jsonClaims(node, purpose), mint);
  const claims = {
    form: 'compact',
    kind: purpose.kind,
    tag: runTag(node.runId),
    sessionId: node.sessionId,
    nodeEventIndex: node.eventIndex,
    attemptId: purpose.kind === 'state' ? FIRST_ATTEMPT : purpose.attemptId,
  } as const;
  return encodeCompactToken(claims, mint);
}

function jsonClaims(node: MintableNode, purpose: TokenPurpose): JsonTokenClaims {
  const { sessionId, runId, nodeId, workflowHash } = node;
  const head = { form: 'json', sessionId, runId, nodeId } as const;
  return purpose.kind === 'state' ? { ...head, kind: 'state', workflowHash } : { ...head, ...purpose };
}
