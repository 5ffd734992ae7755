import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import { defined, type JsonObject } from '../../core/json/json-value.ts';
import type { Autonomy } from '../../core/log/autonomy.ts';
import type { By } from '../../core/log/events/event-envelope.ts';
import { isComplete, pendingStep } from '../../core/log/execution-snapshot.ts';
import type { AttemptId, RunId } from '../../core/log/ids.ts';
import {
  type ArtifactRefusal,
  type ContextRefusal,
  checkArgument,
  contextDelta,
} from '../../core/log/operation/operation-drafts.ts';
import { type GivenReply, hole, requestDigest } from '../../core/log/operation/stored-reply.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { type AdvanceAttempt, advanceRun, recordedAdvance } from '../../core/run/decide/advance-run.ts';
import { preferenceWarnings } from '../../core/run/decide/drafts.ts';
import { isGate } from '../../core/run/decide/judge-attempt.ts';
import { isKeyWords } from '../../core/run/form/context-form.ts';
import { unfilledKeys, withoutKeys } from '../../core/run/form/unfilled.ts';
import type { RunFacts } from '../../core/run/step-place.ts';
import type { ChosenPreferences } from '../../core/settings/settings-in-effect.ts';
import { withoutHidden } from '../../core/text/visible-text.ts';
import { checkTokenPair, type TokenTarget } from '../../core/token/node-token.ts';
import type { AttemptsUsedUp } from '../../core/token/token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { checksOnLine, evidenceBefore, evidenceOnLine } from '../../core/views/line-checks.ts';
import { contextAt } from '../../core/views/lineage.ts';
import {
  type AdvanceRecord,
  advanceOutcome,
  attemptCount,
  isChangedFromOutside,
  setterOf,
} from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { lineEnd, runLine } from '../../core/views/session-view.ts';
import type { WorkflowCatalog } from '../catalog/workflow-catalog.ts';
import type { AppendPermit, GateRefusal, LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AnswerServices, ConfigRefusal, Services } from '../services.ts';
import { advanceReply, oddCharacters, secretsIn } from './advance-reply.ts';
import {
  blockedInARow,
  checkLength,
  earlierAttempts,
  evidenceFacts,
  type GateSurroundings,
  gateFacts,
  gateSurroundings,
  ignoredKeys,
  type NotesTooLong,
  type SealedArtifacts,
  sealArtifacts,
  withoutPersonKeys,
} from './attempt-facts.ts';
import { driftWarnings } from './drift-warnings.ts';
import { appendPlan, decisionPlan, replay } from './give-reply.ts';
import { pastForPrompt } from './read-recap.ts';
import {
  findTokenNode,
  isRunClosed,
  modeAllowed,
  type RunPlace,
  runPlace,
  sessionGone,
  startFolderOf,
} from './run-place.ts';
import { triedStep } from './tried-step.ts';

/** What an agent sends with a call. */
export type SentOutput = { readonly notesMarkdown?: string | undefined; readonly artifacts: readonly JsonObject[] };

export type AdvanceRequest = {
  readonly ackToken: string;
  /** Optional; if sent, it must name the same node. */
  readonly stateToken?: string | undefined;
  readonly output: SentOutput;
  /** Merged into the context of the branch: keys replace, null removes. */
  readonly context?: JsonObject | undefined;
  /** Applies to this attempt and everything after. */
  readonly mode?: Autonomy | undefined;
};

export type AdvanceRefusal =
  | NotesTooLong
  | ConfigRefusal
  | ContextRefusal
  | ArtifactRefusal
  | AttemptsUsedUp
  | TokenRefusal
  | GateRefusal;

/** Reports the step of a node as done, once: the same token again returns the same reply and changes nothing. */
export async function advance(
  services: Services,
  request: AdvanceRequest,
): Promise<Result<GivenReply, AdvanceRefusal>> {
  return safeTry(async function* (): Flow<GivenReply, AdvanceRefusal> {
    const found = yield* await findTokenNode(services, { text: request.ackToken, slot: 'ackToken' });
    const { target, keys } = found;
    yield* await checkPair(services, target, request.stateToken);
    const sealed = yield* sealRequest(services, request);
    const mint = { ...keys, form: services.tokenForm };
    const replayed = { mint, sent: sealed.sent, requestDigest: sealed.digest };
    // A record never changes, so a replay needs no lock.
    const known = recordOf(found.session, target);
    if (known !== undefined && (await services.sessions.makeDurable(found.session, known.eventIndex))) {
      return replay(services, { ...replayed, session: found.session, record: known });
    }

    const chosen = yield* await modeAllowed(services, found, request.mode);
    const surroundings = await gateSurroundings(services, found.session, target);
    const drift = await driftSeen(services, found.session, target);
    const recorded = yield* await services.sessions.exclusively(
      target.sessionId,
      async (current, permit) => {
        if (current === undefined) return err(sessionGone(target.sessionId));
        return recordOf(current, target) === undefined
          ? record(services, { request, sealed, target, current, permit, surroundings, chosen, drift })
          : ok(current);
      },
      { mustExist: true, isLoaded: true },
    );
    const made = recordOf(recorded, target);
    assert(made !== undefined, 'what was appended is recorded');
    return replay(services, { ...replayed, session: recorded, record: made });
  });
}

async function checkPair(
  services: Services,
  target: TokenTarget,
  stateToken: string | undefined,
): Promise<Result<void, TokenRefusal | StoreFailure>> {
  if (stateToken === undefined) return ok(undefined);
  const state = await findTokenNode(services, { text: stateToken, slot: 'stateToken' });
  if (state.isErr()) return err(state.error);
  return checkTokenPair(state.value.target, target).map(() => undefined);
}

type SealedRequest = SealedArtifacts & {
  readonly notesMarkdown: string | undefined;
  /** The arguments without the tokens, to be sent again. */
  readonly sent: JsonObject;
  readonly digest: Sha256Digest;
};

/** Checks what was sent, as far as that is possible without the run. Blank notes count as none. */
function sealRequest(
  { hasher }: Services,
  { output, context, mode }: AdvanceRequest,
): Result<SealedRequest, ArtifactRefusal | ContextRefusal> {
  const checked = context === undefined ? ok(context) : checkArgument(context);
  if (checked.isErr()) return err(checked.error);
  const artifacts = sealArtifacts(output.artifacts, hasher);
  if (artifacts.isErr()) return err(artifacts.error);
  const written = output.notesMarkdown?.toWellFormed();
  const notesMarkdown = withoutHidden(written ?? '').trim() === '' ? undefined : written;
  const notes = notesMarkdown === undefined ? {} : { notesMarkdown };
  const isContextSent = context !== undefined && Object.keys(context).length > 0;
  const rest = { ...(isContextSent ? { context } : {}), ...defined({ mode }) };
  const hasOutput = notesMarkdown !== undefined || output.artifacts.length > 0;
  const sent = {
    ...(hasOutput
      ? { output: { ...notes, ...(output.artifacts.length === 0 ? {} : { artifacts: output.artifacts }) } }
      : {}),
    ...rest,
  };
  const payload = { output: { ...notes, artifacts: [...output.artifacts] }, ...rest };
  return requestDigest(payload, hasher.sha256).map((digest) => ({ ...artifacts.value, notesMarkdown, sent, digest }));
}

type Recording = {
  readonly request: AdvanceRequest;
  readonly sealed: SealedRequest;
  readonly target: TokenTarget;
  readonly current: LoadedSession;
  readonly permit: AppendPermit;
  readonly surroundings: GateSurroundings;
  readonly chosen: ChosenPreferences | undefined;
  /** Whether the workflow file changed since the run started; to be reported once. */
  readonly drift: readonly WarningFact[];
};

async function record(services: Services, work: Recording): Promise<Result<LoadedSession, AdvanceRefusal>> {
  return safeTry(async function* (): Flow<LoadedSession, AdvanceRefusal> {
    const { request, sealed, target, current, permit, surroundings, chosen, drift } = work;
    assert(target.kind === 'ack', 'only an ack token advances');
    const { nextEventIndex, advances } = current.view;
    const { sessionId, nodeId, attemptId } = target;
    const made = attemptCount(advances, nodeId);
    assert(attemptId >= made, 'an attempt that was made has its outcome on record');
    // The holder of a token for a later attempt has seen a longer log than this one.
    if (attemptId > made) return err({ code: 'TOKEN_UNKNOWN_NODE', sessionId, missing: { kind: 'node', nodeId } });
    const sent = { handedIn: sealed, context: request.context ?? {}, chosen };
    const { attempt, bytes, isUnpinned, noticed } = yield* await attemptAt(services, current, {
      target,
      attemptId,
      surroundings,
      sent,
    });
    if (isUnpinned) yield* await services.pinnedWorkflows.pin(attempt.index.workflow);

    const wasClosed = await isRunClosed(services, current, target.runId);
    const { sha256 } = services.hasher;
    const decided = advanceRun(attempt, sha256);
    const { outcome } = decided;
    const { step, blocked } = triedStep(current.view, nodeId);
    const earlier = blockedInARow(current.view, blocked);
    const attempts = outcome.kind === 'blocked' && outcome.blockers.every(isGate) ? 0 : earlier + 1;
    // Only the last reply looks back over the whole line, so that a call costs the same however long the run is.
    const isOver = outcome.snapshot.enginePayload.state.kind === 'complete';
    const earlierChecks = isOver ? checksOnLine(current.view, nodeId) : [];
    const { workflow } = attempt.index;
    const isPassed =
      outcome.kind !== 'blocked' && outcome.openedGaps.some(({ details }) => details?.['passedBy'] !== undefined);
    const evidence = isOver
      ? [
          ...evidenceOnLine(current.view, nodeId, { workflow }),
          ...evidenceBefore(current.view, { nodeId, end: isPassed ? 'passed' : 'done', workflow }),
        ]
      : [];
    const line = isOver ? runLine(current.view, nodeId) : lineEnd(current.view, nodeId);
    const isNext = outcome.kind !== 'blocked' && outcome.snapshot.enginePayload.state.kind === 'running';
    const isOutside = chosen === undefined && isChangedFromOutside(current.view.preferences, nodeId, step.nodeId);
    const from = { session: current, nodeId, index: attempt.index, isPassed };
    const past = isNext ? yield* await pastForPrompt(services, from) : {};
    const at = {
      runId: target.runId,
      index: attempt.index,
      line,
      wasClosed,
      attempts,
      cap: chosen?.cap,
      earlierChecks,
      evidence,
      past,
      noticed: [...(isOver ? [] : drift), ...oddCharacters(request.output.notesMarkdown)],
      outside: [...noticed, ...(isOutside ? preferenceWarnings(workflow, attempt.facts.preferences) : [])],
    };
    const reply = advanceReply(at, outcome);
    const record = recordedAdvance(attempt, outcome, { reply, requestDigest: sealed.digest });
    const decision = { outcome, drafts: [...decided.drafts, record] };
    const placement = { sessionId, firstEventIndex: nextEventIndex, at: services.clock.nowMs(), by: services.by };
    const artifacts = new Map([...bytes, ...sealed.bytes]);
    const plan = decisionPlan(decision, { ...placement, artifacts }, sha256);
    const appended = yield* await appendPlan(services.sessions, permit, plan);
    if (!isOver && drift.length > 0) lookedAt(services).set(target.runId, 'reported');
    return ok(appended);
  });
}

/** When the file of a run was last compared with what the run is pinned to, by the catalog of this process. */
const looks = new WeakMap<WorkflowCatalog, Map<RunId, number | 'reported'>>();

function lookedAt({ catalog }: Pick<Services, 'catalog'>): Map<RunId, number | 'reported'> {
  const known = looks.get(catalog) ?? new Map<RunId, number | 'reported'>();
  looks.set(catalog, known);
  return known;
}

/** Says that the file of a run has just been read, so that the next steps need not look. */
export function noteFileRead({ catalog, clock }: Pick<Services, 'catalog' | 'clock'>, runId: RunId): void {
  const known = lookedAt({ catalog });
  known.delete(runId);
  known.set(runId, clock.nowMs());
  const [oldest] = known.keys();
  if (known.size > RUNS_REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
}

const LOOK_AGAIN_MS = 10_000;
const RUNS_REMEMBERED_MAX = 1_000;

/**
 * Whether the file of the run's workflow has changed, reported once per run and process. Looking reads folders, so it is
 * not done at every step. That the file of a project is gone cannot be said here: an older run may have been started in
 * a folder below the one that is recorded.
 */
async function driftSeen(
  services: Pick<Services, 'catalog' | 'clock'>,
  session: LoadedSession,
  { runId, nodeId }: TokenTarget,
): Promise<readonly WarningFact[]> {
  const last = lookedAt(services).get(runId);
  if (last === 'reported' || (last !== undefined && services.clock.nowMs() < last + LOOK_AGAIN_MS)) return [];
  noteFileRead(services, runId);
  const { view } = session;
  const run = view.graph.runs.get(runId);
  const found = await driftWarnings(services, {
    session,
    runId,
    attachTo: hole('stateToken'),
    context: contextAt(view.context, nodeId),
    workspace: startFolderOf(session, runId),
  });
  return found.filter(({ code }) => code !== 'workflow_gone' || run?.pinned?.workflowSourceKind !== 'project');
}

type SentAttempt = {
  readonly handedIn: Pick<SealedRequest, 'notesMarkdown' | 'artifacts'>;
  readonly context: JsonObject;
  /** The preferences that the call asks for, as far as the settings allow them. */
  readonly chosen?: ChosenPreferences | undefined;
};

type FoundAttempt = Pick<RunPlace, 'isUnpinned'> & {
  /** What the caller should know about the context that it sent. */
  readonly noticed: readonly WarningFact[];
  readonly attempt: AdvanceAttempt;
  readonly bytes: SealedArtifacts['bytes'];
};

/** An attempt at the pending step of a node, with everything that the decision about it depends on. */
export async function attemptAt(
  services: AnswerServices,
  current: LoadedSession,
  at: {
    readonly target: TokenTarget;
    readonly attemptId: AttemptId;
    readonly surroundings: GateSurroundings;
    readonly sent: SentAttempt;
  },
): Promise<Result<FoundAttempt, AdvanceRefusal>> {
  return safeTry(async function* (): Flow<FoundAttempt, AdvanceRefusal> {
    const { target, attemptId, surroundings, sent } = at;
    const { nodeId, runId } = target;
    const { minimum, isUnattended, page, isModeOfMaker } = surroundings;
    const place = yield* await runPlace(services, current, {
      ...target,
      gates: { minimum, isUnattended, page, isModeOfMaker },
    });
    const { index, snapshot, facts, openGaps, isUnpinned } = place;
    assert(!isComplete(snapshot), 'a complete node has no ack token');
    const pending = pendingStep(snapshot);
    const pendingDeclared = index.steps.get(pending?.stepId ?? '');
    yield* checkLength(pendingDeclared, sent.handedIn.notesMarkdown);
    const blankKeys = unfilledKeys(sent.context, (key, text) => isKeyWords(index, key, text));
    const filled = withoutKeys(sent.context, blankKeys);
    const own = withoutPersonKeys(filled, index.steps, surroundings.minimum);
    const change = yield* contextDelta(facts.context, own);
    const noticed = [...ignoredKeys(filled, own, facts.context), ...secretsIn(change.delta ?? {})];
    const { step, blocked } = triedStep(current.view, nodeId);
    const drafts = yield* await earlierAttempts(services, current.view, blocked);
    const gate =
      pendingDeclared &&
      gateFacts(services, current, {
        target,
        step: pendingDeclared,
        surroundings,
        loopPath: pending?.loopPath ?? [],
      });
    const { graph } = current.view;
    const attempt: AdvanceAttempt = {
      runId,
      attempt: { nodeId, attemptId, operation: 'advance' },
      index,
      at: snapshot,
      facts: {
        ...facts,
        context: change.context,
        ...chosenFacts(facts, sent.chosen, services.by),
      },
      preferencesBefore: facts.preferences,
      ...defined({ chosenBy: sent.chosen }),
      contextDelta: change.delta,
      handedIn: { notesMarkdown: sent.handedIn.notesMarkdown, artifacts: sent.handedIn.artifacts },
      drafts: drafts.handedIn,
      isRetry: blocked.length > 0,
      blankKeys,
      gate,
      evidence: evidenceFacts(services.hasher, current.view, {
        nodeId,
        step: pendingDeclared,
        tree: surroundings.tree,
        head: surroundings.head,
      }),
      hasStepBelow: nodeOf(graph, nodeId).hasStepBelow,
      isBranch: step.hasStepBelow,
      openGaps,
    };
    return ok({ attempt, bytes: drafts.bytes, isUnpinned, noticed });
  });
}

/** The preferences of an attempt, and who set them; a mode that is already in force stays with who set it. */
function chosenFacts(facts: RunFacts, chosen: ChosenPreferences | undefined, by: By | undefined) {
  if (chosen === undefined) return {};
  const { preferences, source } = chosen;
  if (preferences.autonomy === facts.preferences.autonomy) return { preferences };
  return { preferences, setBy: setterOf({ source, by: chosen.by ?? by }) };
}

function recordOf({ view }: LoadedSession, target: TokenTarget): AdvanceRecord | undefined {
  assert(target.kind === 'ack', 'only an ack token advances');
  return advanceOutcome(view.advances, target.nodeId, target.attemptId);
}
