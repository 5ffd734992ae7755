import { err, ok, type Result } from 'neverthrow';
import {
  type AttemptId,
  type EventIndex,
  type NodeId,
  type RunId,
  runTag,
  type SessionId,
  type WorkflowHash,
  type WorkflowId,
} from '../log/ids.ts';
import type { TokenClaims } from './token.ts';
import type { MissingPlace, TokenPlace, TokenRefusal, TokenRun } from './token-refusal.ts';

export type ScopeNode = { readonly nodeId: NodeId; readonly runId: RunId; readonly workflowHash: WorkflowHash };
export type ScopeRun = { readonly workflowId: WorkflowId; readonly workflowHash: WorkflowHash };

/** What a token is checked against: the nodes and runs of one session. */
export type TokenScope = {
  readonly sessionId: SessionId;
  readonly nodeAt: (eventIndex: EventIndex) => ScopeNode | undefined;
  readonly node: (nodeId: NodeId) => ScopeNode | undefined;
  readonly run: (runId: RunId) => ScopeRun | undefined;
};

/** What a valid token leads to. */
export type TokenTarget = TokenPlace &
  ({ readonly kind: 'state' } | { readonly kind: 'ack' | 'checkpoint'; readonly attemptId: AttemptId });

/** Finds what verified claims name; `scope` is `undefined` when the session is not in the store. */
export function resolveToken(claims: TokenClaims, scope: TokenScope | undefined): Result<TokenTarget, TokenRefusal> {
  if (scope === undefined) return err(unknown(claims, { kind: 'session' }));
  if (claims.sessionId !== scope.sessionId) {
    const mismatch = { kind: 'session', expected: scope.sessionId, found: claims.sessionId } as const;
    return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch });
  }
  const node = claims.form === 'compact' ? scope.nodeAt(claims.nodeEventIndex) : scope.node(claims.nodeId);
  if (node === undefined) return err(unknown(claims, missingNode(claims)));
  const run = scope.run(node.runId);
  if (run === undefined) return err(unknown(claims, { kind: 'run', runId: node.runId }));

  const { nodeId, runId } = node;
  const place = { sessionId: scope.sessionId, runId, nodeId, tag: runTag(runId), workflowId: run.workflowId };
  const named = namedRun(claims, scope);
  if (named.tag !== place.tag || (named.runId ?? place.runId) !== place.runId) {
    return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'run', place, named } });
  }
  const contradiction = hashContradiction(claims, node, run.workflowHash);
  if (contradiction !== undefined) {
    return err({ code: 'TOKEN_WORKFLOW_HASH_MISMATCH', place, pinned: run.workflowHash, ...contradiction });
  }
  return ok(
    claims.kind === 'state'
      ? { ...place, kind: 'state' }
      : { ...place, kind: claims.kind, attemptId: claims.attemptId },
  );
}

/** Whether a state token and the ack or checkpoint token sent with it name the same node of the same run. */
export function checkTokenPair(state: TokenTarget, operation: TokenTarget): Result<TokenTarget, TokenRefusal> {
  const isSame =
    state.sessionId === operation.sessionId && state.runId === operation.runId && state.nodeId === operation.nodeId;
  if (isSame) return ok(operation);
  const mismatch = { kind: 'pair', state: placeOnly(state), operation: placeOnly(operation) } as const;
  return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch });
}

/** The refusal of a token that leads to its node, where the stored workflow is not the one that the run pinned. */
export function storedWorkflowMismatch(
  target: TokenTarget,
  hashes: { readonly pinned: WorkflowHash; readonly found: WorkflowHash },
): TokenRefusal {
  return { code: 'TOKEN_WORKFLOW_HASH_MISMATCH', place: placeOnly(target), source: 'stored_workflow', ...hashes };
}

function missingNode(claims: TokenClaims): MissingPlace {
  return claims.form === 'compact'
    ? { kind: 'node_at', eventIndex: claims.nodeEventIndex }
    : { kind: 'node', nodeId: claims.nodeId };
}

function unknown({ sessionId }: TokenClaims, missing: MissingPlace): TokenRefusal {
  return { code: 'TOKEN_UNKNOWN_NODE', sessionId, missing };
}

function placeOnly({ sessionId, runId, nodeId, tag, workflowId }: TokenTarget): TokenPlace {
  return { sessionId, runId, nodeId, tag, workflowId };
}

function namedRun(claims: TokenClaims, scope: TokenScope): TokenRun {
  if (claims.form === 'compact') return { tag: claims.tag, runId: null, workflowId: null };
  const { runId } = claims;
  return { tag: runTag(runId), runId, workflowId: scope.run(runId)?.workflowId ?? null };
}

type HashContradiction = { readonly source: 'token' | 'node'; readonly found: WorkflowHash };

function hashContradiction(claims: TokenClaims, node: ScopeNode, pinned: WorkflowHash): HashContradiction | undefined {
  if (claims.form === 'json' && claims.kind === 'state' && claims.workflowHash !== pinned) {
    return { source: 'token', found: claims.workflowHash };
  }
  return node.workflowHash === pinned ? undefined : { source: 'node', found: node.workflowHash };
}
