import { err, ok, type Result, safeTry } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import type { Blocker } from '../../core/log/blockers.ts';
import { type EngineState, pendingStep } from '../../core/log/execution-snapshot.ts';
import type { NodeId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import type { ReplyParts } from '../../core/prompt/reply-parts.ts';
import { replyWarning } from '../../core/prompt/reply-warnings.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { blockersOf } from '../../core/run/decide/advance-run.ts';
import { preferenceWarnings } from '../../core/run/decide/drafts.ts';
import { judgeAttempt } from '../../core/run/decide/judge-attempt.ts';
import { blank, WORK_WORDS } from '../../core/run/form/blank.ts';
import type { EarlierStep, Unmet } from '../../core/run/requirements/requirement.ts';
import { rejectedWords } from '../../core/run/requirements/user.ts';
import { leadsOutside } from '../../core/text/words.ts';
import type { TokenMint, TokenTarget } from '../../core/token/node-token.ts';
import { type AttemptsUsedUp, nextAttempt, type TokenKind } from '../../core/token/token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { answerTo, commentWords, unusedAnswers } from '../../core/views/attestations.ts';
import { checksOnLine, evidenceOnLine } from '../../core/views/line-checks.ts';
import { advanceOutcome, attemptCount, blockedDraft, isChangedFromOutside } from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { blockersAt } from '../../core/views/run-status.ts';
import { lineEnd, runLine, type SessionView } from '../../core/views/session-view.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';
import { listedGaps, shownGoal } from './advance-reply.ts';
import { approvalOf } from './answer-gate.ts';
import { blockedInARow, earlierAttempts, evidenceFacts } from './attempt-facts.ts';
import { driftWarnings } from './drift-warnings.ts';
import { giveReply, nextAckToken, type ReplyNode, stateTokenOf } from './give-reply.ts';
import { leftNode, readRecap } from './read-recap.ts';
import { findTokenNode, isRunClosed, type RunPlace, runPlace } from './run-place.ts';
import { triedStep } from './tried-step.ts';

export type RehydrateRequest = {
  readonly stateToken: string;
  /** Where to look for the run's workflow file. */
  readonly workspace?: string | undefined;
};

export type RehydrateRefusal = AttemptsUsedUp | TokenRefusal | StoreFailure;

/** Returns the step of a node again, with everything that an agent without memory needs. Read-only. */
export async function rehydrate(
  services: ReadServices,
  request: RehydrateRequest,
): Promise<Result<GivenReply, RehydrateRefusal>> {
  const found = await findTokenNode(services, { text: request.stateToken, slot: 'stateToken' });
  if (found.isErr()) return err(found.error);
  const { session, target, keys } = found.value;
  const mint = { ...keys, form: services.tokenForm };
  return rehydrateNode(services, { session, target, mint, workspace: request.workspace });
}

/** Byte limits for the parts of a rehydration that are not the author's. */
export type ShownRoom = { readonly recap: number; readonly draft: number; readonly goal: number };

export type NodeToShow = {
  readonly session: LoadedSession;
  readonly target: TokenTarget;
  readonly mint: TokenMint;
  readonly workspace: string | undefined;
  /** Smaller limits than usual. */
  readonly room?: ShownRoom | undefined;
};

export async function rehydrateNode(
  services: ReadServices,
  shown: NodeToShow,
): Promise<Result<GivenReply, RehydrateRefusal>> {
  return safeTry(async function* () {
    const { session, target, mint, room } = shown;
    const { view } = session;
    const place = yield* await runPlace(services, session, target);
    const at = yield* nextTries(target, view);
    const standing = yield* await standingBlock(services, place, {
      view,
      nodeId: target.nodeId,
      isLeft: leftNode(view.graph, target.nodeId) !== undefined,
    });
    const blocked = yield* await withEarlierStep(services, standing.blocked, { session, target, mint });
    const { index, snapshot, facts, openGaps } = place;
    const past = yield* await readRecap(services, {
      session,
      mint,
      nodeId: target.nodeId,
      index,
      recapBytesMax: room?.recap,
    });
    const { state } = snapshot.enginePayload;
    const isOver = state.kind === 'complete';
    // A complete run does not continue, so changes to its file do not matter.
    const drift = isOver
      ? []
      : await driftWarnings(services, {
          session,
          runId: target.runId,
          attachTo: stateTokenOf(target, { view, mint }),
          context: facts.context,
          workspace: shown.workspace,
        });
    const isClosed = await isRunClosed(services, session, target.runId);
    const closed: readonly WarningFact[] = isClosed ? [{ code: 'run_closed', isReopened: false, isOver }] : [];
    const { step } = triedStep(view, target.nodeId);
    const isOutside = !isOver && isChangedFromOutside(view.preferences, target.nodeId, step.nodeId);
    const outside = isOutside ? preferenceWarnings(index.workflow, facts.preferences) : [];
    const below = isOver
      ? []
      : workBelow(view, target, (nodeId) => stateTokenOf({ sessionId: session.sessionId, nodeId }, { view, mint }));
    const listed = listedGaps(isOver ? openGaps.map(({ data }) => data) : []);
    const goal = shownGoal(facts.context['goal'], room?.goal);
    const reply = stepReply({
      runId: target.runId,
      index,
      state,
      facts,
      line: isOver ? runLine(view, target.nodeId) : lineEnd(view, target.nodeId),
      lifecycle: 'rehydrate',
      warnings: [...closed, ...drift, ...outside, ...below, ...listed.warnings, ...goal.warnings].map((fact) =>
        replyWarning(fact, facts.preferences.riskPolicy),
      ),
      gaps: listed.gaps,
      ...(isOver
        ? {
            checks: checksOnLine(view, target.nodeId),
            evidence: evidenceOnLine(view, target.nodeId, { workflow: index.workflow }),
          }
        : {}),
      ...defined({ goal: goal.text }),
      ...past,
      ...standing,
      ...(room === undefined ? {} : { draftBytesMax: room.draft }),
      ...blocked,
      // The reply to the start gave their paths on this machine; here only their titles are needed.
      ...(index.workflow.references.length === 0 ? {} : { references: index.workflow.references.map(namedReference) }),
    });
    return ok(giveReply(reply, at, { view, mint }));
  });
}

/** The newest blocked attempts below a node whose step was not done since, if they sent something. */
function workBelow(
  { graph, outputs }: SessionView,
  { nodeId }: TokenTarget,
  stateToken: (nodeId: NodeId) => string,
): readonly WarningFact[] {
  if (leftNode(graph, nodeId) !== undefined) return [];
  const blocked = blockedBelow(graph, nodeId);
  const [newest] = blocked.slice(-1);
  const isKept = blocked.some((id) => blockedDraft(outputs, id).length > 0);
  return isKept && newest !== undefined ? [{ code: 'work_below', stateToken: stateToken(newest) }] : [];
}

/** The newest blocked attempt at a node, the newest one at that, and so on. */
function blockedBelow(graph: SessionView['graph'], nodeId: NodeId): readonly NodeId[] {
  const blocked: NodeId[] = [];
  let at = nodeOf(graph, nodeId);
  const newest = () => at.children.map((id) => nodeOf(graph, id)).findLast(({ kind }) => kind === 'blocked_attempt');
  for (let next = newest(); next !== undefined; next = newest()) {
    at = next;
    blocked.push(at.nodeId);
  }
  return blocked;
}

/** An earlier step has its own tokens, which only a reply that is not stored can contain. */
async function withEarlierStep(
  services: ReadServices,
  blocked: ReplyParts['blocked'],
  { session, target, mint }: Pick<NodeToShow, 'session' | 'target' | 'mint'>,
): Promise<Result<Pick<ReplyParts, 'blocked'>, StoreFailure>> {
  if (blocked === undefined) return ok({});
  const { view, sessionId } = session;
  const found = await earlierStep(services, view, { nodeId: target.nodeId, unmet: blocked.unmet });
  return found.map((nodeId) => ({
    blocked:
      nodeId === undefined
        ? blocked
        : { ...blocked, earlierStateToken: stateTokenOf({ sessionId, nodeId }, { view, mint }) },
  }));
}

/** A document of a workflow by its title, without the place on this machine. */
export function namedReference(reference: RunPlace['index']['workflow']['references'][number]) {
  const { title, source, purpose, isAuthoritative } = reference;
  return { title, path: source, purpose, isAuthoritative, isResolved: true, isOutside: leadsOutside(reference) };
}

/** The numbers of the next attempt and checkpoint: as many as there are. */
export function nextTries(
  { sessionId, nodeId }: Pick<TokenTarget, 'sessionId' | 'nodeId'>,
  view: SessionView,
): Result<ReplyNode, AttemptsUsedUp> {
  const checkpoints = nodeOf(view.graph, nodeId).children.filter(
    (child) => nodeOf(view.graph, child).kind === 'checkpoint',
  );
  return nextAttempt({ size: attemptCount(view.advances, nodeId) }).andThen((attemptId) =>
    nextAttempt({ size: checkpoints.length }).map((checkpointId) => ({ sessionId, nodeId, attemptId, checkpointId })),
  );
}

/**
 * What a blocked attempt sent, and what is still missing; empty for a node that is not blocked. A node that was
 * corrected since is not blocked: the branch below it shows how to continue. A run that waits for its first step only
 * reports what is missing.
 */
export async function standingBlock(
  services: ReadServices,
  { index, snapshot, facts }: RunPlace,
  at: {
    readonly view: SessionView;
    readonly nodeId: NodeId;
    readonly isLeft: boolean;
  },
): Promise<Result<Pick<ReplyParts, 'blocked' | 'draft'>, StoreFailure>> {
  const { view, nodeId, isLeft } = at;
  const { blocked } = triedStep(view, nodeId);
  const isWaiting = snapshot.enginePayload.state.kind === 'init';
  if (blocked.length === 0 && !isWaiting) return ok({});
  const drafts = await earlierAttempts(services, view, blocked);
  if (drafts.isErr()) return err(drafts.error);
  const { handedIn, artifacts } = drafts.value;
  const notesMarkdown = handedIn.findLast((one) => one.notesMarkdown !== undefined)?.notesMarkdown;
  const artifactKinds = [...new Set(artifacts.flatMap(({ kind }) => kind ?? []))];
  const draft = { ...defined({ notesMarkdown }), artifactKinds };
  const held = blocked.length === 0 ? {} : { draft };
  if (isLeft && !isWaiting) return ok(held);
  const gates = standingGates(view, nodeId);
  if (gates.length > 0) {
    return ok({ ...held, blocked: { blockers: blockersOf(gates), unmet: gates, attempts: 0 } });
  }
  const verdict = judgeAttempt({
    index,
    at: snapshot,
    facts,
    handedIn: { notesMarkdown: undefined, artifacts: [] },
    drafts: handedIn,
    isRetry: blocked.length > 0,
    evidence: evidenceFacts(services.hasher, view, {
      nodeId,
      step: index.steps.get(pendingStep(snapshot)?.stepId ?? ''),
      tree: 'unasked',
    }),
  });
  if (verdict.kind !== 'blocked') return ok(held);
  const { unmet } = verdict;
  return ok({ ...held, blocked: { blockers: blockersOf(unmet), unmet, attempts: blockedInARow(view, blocked) } });
}

/**
 * The gates that a blocked attempt waits at, as they were recorded: the draft and its code are those that the person sees.
 * Nothing is judged again here, because that would need the files of the workspace.
 */
function standingGates(view: SessionView, nodeId: NodeId): readonly Unmet[] {
  const said = unusedAnswers(view, triedStep(view, nodeId).step.nodeId);
  return blockersAt(view, nodeId).flatMap((blocker): readonly Unmet[] => {
    const approval = approvalOf(blocker);
    const reason = approval && reasonOf(blocker);
    if (approval === undefined || reason === undefined) return [];
    const { pointer, message, suggestedFix = '', details = {} } = blocker;
    const found = { reason, pointer, requirement: `gate:${approval.digest}` };
    const statement = answerTo(said, approval.digest)?.data.statement;
    if (statement === undefined || statement.kind === 'check') {
      return [{ ...found, message, suggestedFix, details, form: {} }];
    }
    if (statement.kind === 'rejected') {
      const words = rejectedWords(approval.code, statement.comment);
      return [{ ...found, ...words, details: { ...details, rejected: true }, form: CHANGED_WORK }];
    }
    const answered = {
      message: `A person answered: draft ${approval.code} is ${statement.kind}.${commentWords(statement.comment)}`,
      suggestedFix: 'Send the call. It needs no output.',
    };
    return [{ ...found, ...answered, details, form: {} }];
  });
}

const CHANGED_WORK = { notesMarkdown: blank(WORK_WORDS) };

/** Gates are the only blockers with an approval, and a step or a key of context is all they point at. */
function reasonOf({ code }: Blocker): Unmet['reason'] | undefined {
  return code === 'USER_ONLY_DEPENDENCY' ? 'user_only_dependency:needs_user_approval' : undefined;
}

/** The nearest step above a node that can meet a requirement which the node itself cannot. */
async function earlierStep(
  { snapshots }: Pick<ReadServices, 'snapshots'>,
  { graph }: SessionView,
  from: { readonly nodeId: NodeId; readonly unmet: readonly Unmet[] },
): Promise<Result<NodeId | undefined, StoreFailure>> {
  const ways = from.unmet.flatMap((unmet) => unmet.earlierStep ?? []);
  if (ways.length === 0) return ok(undefined);
  for (let id = nodeOf(graph, from.nodeId).parentNodeId; id !== null; id = nodeOf(graph, id).parentNodeId) {
    const { kind, snapshotRef } = nodeOf(graph, id);
    if (kind !== 'step') continue;
    const snapshot = await snapshots.get(snapshotRef);
    if (snapshot.isErr()) return err(snapshot.error);
    const { state } = snapshot.value.enginePayload;
    if (ways.some((way) => leadsTo(way, state))) return ok(id);
  }
  return ok(undefined);
}

function leadsTo(way: EarlierStep, state: EngineState): boolean {
  if (state.kind !== 'running') return way.kind === 'before_loop';
  if (way.kind === 'before_loop') return !state.loopStack.some(({ loopId }) => loopId === way.loopId);
  return state.pending.kind === 'some' && state.pending.step.stepId === way.stepId;
}

/** The run of a token, and its currently valid tokens. A complete run has no ack token. */
export type TokenHolder = {
  readonly kind: TokenKind;
  readonly tag: string;
  readonly workflowId: string;
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly checkpointToken?: string;
  /** For an ack token whose attempt was blocked: what to send instead of it, until the step is done. */
  readonly retryToken?: string;
};

/** Looks up any token, to correct an agent's call; `undefined` if it is invalid. */
export async function tokenHolder(services: ReadServices, text: string): Promise<TokenHolder | undefined> {
  const found = await findTokenNode(services, { text, slot: 'attachTo' });
  if (found.isErr()) return undefined;
  const { session, target, keys } = found.value;
  const mint = { ...keys, form: services.tokenForm };
  const shown = await rehydrateNode(services, { session, target, mint, workspace: undefined });
  if (shown.isErr()) return undefined;
  const { kind, tag, workflowId } = target;
  const { stateToken, ackToken, checkpointToken } = shown.value.structured;
  return {
    kind,
    tag,
    workflowId,
    stateToken: String(stateToken),
    ...(typeof ackToken === 'string' ? { ackToken } : {}),
    ...(typeof checkpointToken === 'string' ? { checkpointToken } : {}),
    ...defined({ retryToken: retryToken({ session, target, mint }) }),
  };
}

/** A token that continues from the newest block: the same attempt again would only return what was recorded. */
function retryToken({ session, target, mint }: Pick<NodeToShow, 'session' | 'target' | 'mint'>): string | undefined {
  const { sessionId, view } = session;
  if (target.kind !== 'ack' || leftNode(view.graph, target.nodeId) !== undefined) return undefined;
  const { outcome } = advanceOutcome(view.advances, target.nodeId, target.attemptId)?.data ?? {};
  if (outcome?.kind !== 'blocked') return undefined;
  const { attemptNodeId } = outcome;
  const [nodeId = attemptNodeId] = blockedBelow(view.graph, attemptNodeId).slice(-1);
  return nextAckToken({ sessionId, nodeId }, { view, mint }).unwrapOr(undefined);
}
