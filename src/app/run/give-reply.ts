import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { defined, type JsonObject } from '../../core/json/json-value.ts';
import { type Placement, placeEvents } from '../../core/log/event.ts';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import {
  type ArtifactDigest,
  type AttemptId,
  eventIndexSchema,
  type NodeId,
  type SessionId,
} from '../../core/log/ids.ts';
import { fillReply, type GivenReply } from '../../core/log/operation/stored-reply.ts';
import { type AppendPlan, addContentRefs, noContentRefs } from '../../core/log/plan/append-plan.ts';
import { withIgnoredOutput } from '../../core/prompt/reply/replayed-reply.ts';
import type { Decision, DecisionNode } from '../../core/run/decide/drafts.ts';
import { type MintableNode, mintToken, type TokenMint } from '../../core/token/node-token.ts';
import { type AttemptsUsedUp, FIRST_ATTEMPT, nextAttempt } from '../../core/token/token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { type AdvanceRecord, attemptCount } from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { preferredTipBelow } from '../../core/views/run-status.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { AppendPermit, AppendRefusal, LoadedSession, SessionStore } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices, Services } from '../services.ts';
import { sessionGone } from './run-place.ts';

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

function ackTokenOf(at: NamedNode & { readonly attemptId: AttemptId }, from: Minting): string {
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

export type Recorded = {
  readonly session: LoadedSession;
  readonly record: AdvanceRecord;
  readonly mint: TokenMint;
  /** The arguments of the replayed call without its tokens, and their digest. */
  readonly sent: JsonObject;
  readonly requestDigest: string;
};

/**
 * The reply of a recorded attempt, from the record only: nothing is decided or rendered again. If the call sends
 * something else with the same token, the reply says so and how to record it.
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
  // A call without output loses nothing.
  const isNothing = Object.keys(recorded.sent).length === 0;
  if (isNothing || record.data.requestDigest === recorded.requestDigest) return ok(reply);
  const again = outcome.kind === 'advanced' ? record.scope.nodeId : nodeId;
  const tipToken = outcome.kind === 'advanced' ? tipTokenBelow(recorded, nodeId) : undefined;
  return nextAckToken({ sessionId: session.sessionId, nodeId: again }, from).map((ackToken) =>
    withIgnoredOutput(reply, { sent: recorded.sent, ackToken, tipToken }),
  );
}

/** A token of the end of the branch, if the step at this node was done. */
function tipTokenBelow({ session, mint }: Recorded, nodeId: NodeId): string | undefined {
  const { sessionId, view } = session;
  const tip = preferredTipBelow(view.graph, nodeId);
  // A checkpoint or a blocked attempt does not finish the step.
  const isDone = tip.stepNumber > nodeOf(view.graph, nodeId).stepNumber;
  return isDone ? stateTokenOf({ sessionId, nodeId: tip.nodeId }, { view, mint }) : undefined;
}

/** Derived from the record only, whatever was attempted since, so that a replay is the same. */
function againToken({ session, record, mint }: Recorded): { readonly again?: string } {
  const { sessionId, view } = session;
  const { nodeId } = record.scope;
  return nextAttempt({ size: record.data.attemptId + 1 })
    .map((attemptId) => ({ again: ackTokenOf({ sessionId, nodeId, attemptId }, { view, mint }) }))
    .unwrapOr({});
}

/** A token for the next attempt at a node. */
export function nextAckToken(at: NamedNode, from: Minting): Result<string, AttemptsUsedUp> {
  return nextAttempt({ size: attemptCount(from.view.advances, at.nodeId) }).map((attemptId) =>
    ackTokenOf({ ...at, attemptId }, from),
  );
}

/** Appends our own plan: only a store failure can refuse it, anything else is a bug. */
export async function appendPlan(
  sessions: SessionStore,
  permit: AppendPermit,
  plan: AppendPlan,
): Promise<Result<LoadedSession, StoreFailure>> {
  return (await sessions.append(permit, plan)).mapErr(failureOf);
}

/** Appends a plan that starts a run. Its workflow may have been collected since it was pinned. */
export async function appendStart(
  { sessions, pinnedWorkflows }: Pick<Services, 'sessions' | 'pinnedWorkflows'>,
  permit: AppendPermit,
  { plan, workflow }: { readonly plan: AppendPlan; readonly workflow: CompiledWorkflow },
): Promise<Result<LoadedSession, StoreFailure>> {
  const appended = await sessions.append(permit, plan);
  if (appended.isOk()) return ok(appended.value);
  if (appended.error.code !== 'workflow_not_pinned') return err(failureOf(appended.error));
  const pinned = await pinnedWorkflows.pin(workflow);
  return pinned.isErr() ? err(pinned.error) : appendPlan(sessions, permit, plan);
}

/** Narrows a refusal to a store failure. */
export function failureOf(refusal: AppendRefusal): StoreFailure {
  assert(isStoreFailure(refusal), `the store refused our plan: ${JSON.stringify(refusal)}`);
  return refusal;
}

function isStoreFailure(refusal: AppendRefusal): refusal is StoreFailure {
  return (
    refusal.code === 'io_failed' ||
    refusal.code === 'busy' ||
    refusal.code === 'lock_lost' ||
    refusal.code === 'unreachable' ||
    refusal.code === 'database_refused' ||
    refusal.code === 'store_went_back' ||
    refusal.code === 'master_key_unfit' ||
    refusal.code === 'limit_reached' ||
    refusal.code === 'damaged' ||
    refusal.code === 'unsafe_permissions' ||
    refusal.code === 'unknown_version'
  );
}

/** The place of a decision in the log, with the bytes of artifacts that it may name. */
export type PlanPlacement = Placement & { readonly artifacts?: ReadonlyMap<ArtifactDigest, Uint8Array> };

/** The plan that the store commits for a decision. */
export function decisionPlan(decision: Decision<DecisionNode>, placement: PlanPlacement, sha256: Sha256): AppendPlan {
  const { artifacts, ...place } = placement;
  const events = placeEvents(decision.drafts, place, sha256);
  const named = noContentRefs();
  for (const event of events) addContentRefs(named, event);
  return {
    sessionId: placement.sessionId,
    events,
    snapshots: new Map([...named.snapshots].map((ref) => [ref, decision.outcome.snapshot])),
    artifacts: new Map([...(artifacts ?? [])].filter(([digest]) => named.artifacts.has(digest))),
  };
}
