import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import { canonicalJson, type JsonRefusal } from '../../core/json/canonical-json.ts';
import { defined, type JsonObject } from '../../core/json/json-value.ts';
import { NOTE_BYTES_MAX } from '../../core/log/budgets.ts';
import type { CheckpointGates } from '../../core/log/events/graph-events.ts';
import type { ObservationData } from '../../core/log/events/run-events.ts';
import { pendingStep } from '../../core/log/execution-snapshot.ts';
import { eventIndexSchema, type NodeId, type RunId } from '../../core/log/ids.ts';
import { changedObservations } from '../../core/log/operation/changed-observations.ts';
import {
  type ArtifactRefusal,
  type Attempt,
  createdNodeId,
  outputDrafts,
} from '../../core/log/operation/operation-drafts.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import type { AppendPlan } from '../../core/log/plan/append-plan.ts';
import { withIgnoredCheckpoint } from '../../core/prompt/reply/replayed-reply.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import { replyWarning } from '../../core/prompt/reply-warnings.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { checkpointRun } from '../../core/run/decide/checkpoint-run.ts';
import { checkAttempt } from '../../core/run/decide/judge-attempt.ts';
import { type FormUnfilled, refuseBlanks } from '../../core/run/form/unfilled.ts';
import type { StepCheck } from '../../core/run/requirements/requirement.ts';
import { truncate, utf8Length } from '../../core/text/utf8.ts';
import { checkTokenPair, type TokenTarget } from '../../core/token/node-token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { currentObservation, outputHistory } from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { runLine } from '../../core/views/session-view.ts';
import type { GateRefusal, LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Services } from '../services.ts';
import { sessionAsOf } from '../sessions/open-session.ts';
import type { SentOutput } from './advance.ts';
import { listedGaps, oddCharacters } from './advance-reply.ts';
import { type SealedArtifacts, sealArtifacts } from './attempt-facts.ts';
import { type Correction, correctionOf, correctNotes, type NotesNotReplaceable } from './correct-notes.ts';
import { appendPlan, checkpointTokenOf, decisionPlan, giveReply, newNode } from './give-reply.ts';
import { nextTries, standingBlock } from './rehydrate.ts';
import {
  findTokenNode,
  isReopenedBy,
  type RunPlace,
  rootOf,
  runGates,
  runPlace,
  sessionGone,
  settingsFolders,
} from './run-place.ts';

export type CheckpointRequest = {
  readonly checkpointToken: string;
  /** Optional; if sent, it must name the same node. */
  readonly stateToken?: string | undefined;
  /** Optional; if sent, it must belong to the same run. */
  readonly sessionToken?: string | undefined;
  /** `replacesNotes`: the notes correct those of the last step, instead of adding to them. */
  readonly output: SentOutput & { readonly replacesNotes?: boolean | undefined };
  readonly workspace?: string | undefined;
};

export type CheckpointRefusal =
  | { readonly code: 'nothing_to_keep'; readonly tag: string; readonly workflowId: string }
  | NotesNotReplaceable
  | FormUnfilled
  | ArtifactRefusal
  | JsonRefusal
  | TokenRefusal
  | GateRefusal;

/** Saves work between steps, once: the same token again returns the same reply and changes nothing. */
export async function checkpoint(
  services: Services,
  request: CheckpointRequest,
): Promise<Result<GivenReply, CheckpointRefusal>> {
  return safeTry(async function* (): Flow<GivenReply, CheckpointRefusal> {
    const found = yield* await findTokenNode(services, { text: request.checkpointToken, slot: 'checkpointToken' });
    const { target } = found;
    yield* await checkPair(services, target, request);
    const sealed = yield* sealArtifacts(request.output.artifacts, services.hasher);
    const notesMarkdown = request.output.notesMarkdown?.toWellFormed().trim();
    const { replacesNotes: isCorrection = false } = request.output;
    if ((notesMarkdown ?? '') === '' && (isCorrection || sealed.artifacts.length === 0)) {
      return err({ code: 'nothing_to_keep', tag: target.tag, workflowId: target.workflowId });
    }
    yield* refuseBlanks({ notesMarkdown, artifacts: request.output.artifacts });
    assert(target.kind === 'checkpoint', 'only a checkpoint token makes a checkpoint');
    const { nodeId, attemptId } = target;
    const attempt: Attempt = { nodeId, attemptId, operation: 'checkpoint' };
    const created = createdNodeId(target.runId, attempt, services.hasher.sha256);
    const kept: Kept = { found, attempt, created, sealed, notesMarkdown, isCorrection };
    const saved = yield* await keep(services, kept, request.workspace);
    return replyAt(services, saved, { ...kept, odd: oddCharacters(request.output.notesMarkdown) });
  });
}

type Kept = Correction & {
  readonly created: NodeId;
  readonly sealed: SealedArtifacts;
  /** Whether the notes replace those of the last step. */
  readonly isCorrection: boolean;
};

/** The session with the checkpoint, and whether an earlier call recorded it. */
type Saved = { readonly session: LoadedSession; readonly isRepeated: boolean };

async function keep(
  services: Services,
  kept: Kept,
  workspace: string | undefined,
): Promise<Result<Saved, CheckpointRefusal>> {
  const { found, created } = kept;
  const { sessionId } = found.target;
  const known = found.session.view.graph.nodes.get(created);
  const isKept =
    known !== undefined &&
    (await services.sessions.makeDurable(found.session, eventIndexSchema.parse(known.createdIndex)));
  if (isKept) return ok({ session: found.session, isRepeated: true });
  // Git is asked before anything is locked: it may be slow. A call without a folder is about the session's own folder,
  // wherever this process was started.
  const own = rootOf(found.session);
  const observed = await services.workspace.observe(own ?? workspace);
  return services.sessions.exclusively<Saved, CheckpointRefusal>(
    sessionId,
    async (current, permit) => {
      if (current === undefined) return err(sessionGone(sessionId));
      if (current.view.graph.nodes.get(created) !== undefined) return ok({ session: current, isRepeated: true });
      const corrected = kept.isCorrection ? await correctNotes(services, kept, { current, permit }) : ok(current);
      if (corrected.isErr()) return err(corrected.error);
      const plan = await planCheckpoint(services, { kept, current: corrected.value, observed });
      if (plan.isErr()) return err(plan.error);
      const appended = await appendPlan(services.sessions, permit, plan.value);
      return appended.map((session) => ({ session, isRepeated: false }));
    },
    { mustExist: true, isLoaded: true },
  );
}

async function planCheckpoint(
  services: Services,
  work: { readonly kept: Kept; readonly current: LoadedSession; readonly observed: readonly ObservationData[] },
): Promise<Result<AppendPlan, TokenRefusal | StoreFailure>> {
  const { kept, current } = work;
  const { view, sessionId } = current;
  const { target } = kept.found;
  const place = await runPlace(services, current, target);
  if (place.isErr()) return err(place.error);
  const { isUnpinned, index } = place.value;
  const pinned = isUnpinned ? await services.pinnedWorkflows.pin(index.workflow) : undefined;
  if (pinned?.isErr()) return err(pinned.error);
  const known = { get: (key: ObservationData['key']) => currentObservation(view.observations, key)?.data.value };
  const decision = checkpointRun(
    {
      runId: target.runId,
      attempt: kept.attempt,
      at: place.value.snapshot,
      output: outputOf(kept),
      observations: changedObservations(known, work.observed),
      reports: readOutput(place.value, kept),
      gates: asksPerson(place.value) ? await gatesNow(services, current, target.runId) : undefined,
    },
    services.hasher.sha256,
  );
  const firstEventIndex = view.nextEventIndex;
  const when = { at: services.clock.nowMs(), by: services.by };
  const placement = { sessionId, firstEventIndex, ...when, artifacts: kept.sealed.bytes };
  return ok(decisionPlan(decision, placement, services.hasher.sha256));
}

/** Reads what counts at any time. Nothing is required, so the notes are not checked: the step is not done. */
function readOutput({ index, snapshot, facts }: RunPlace, { sealed }: Kept): StepCheck {
  const handedIn = { notesMarkdown: undefined, artifacts: sealed.artifacts };
  return checkAttempt({ index, at: snapshot, facts, handedIn, drafts: [], isRetry: false });
}

/** Whether the step is one that the settings for gates can hold. */
function asksPerson({ index, snapshot }: RunPlace): boolean {
  const step = index.steps.get(pendingStep(snapshot)?.stepId ?? '');
  return step !== undefined && (step.confirmation.kind !== 'none' || step.userDependency !== undefined);
}

async function gatesNow({ gateSettings }: Services, session: LoadedSession, runId: RunId): Promise<CheckpointGates> {
  const { minimum, unattended } = await gateSettings(settingsFolders(session, runId));
  return { minimum, unattended };
}

/** The settings for gates as the checkpoint recorded them, if it did. */
async function gatesThen({ gateSettings }: Services, session: LoadedSession, created: NodeId) {
  const { edge, runId } = nodeOf(session.view.graph, created);
  const recorded = edge?.edgeKind === 'checkpoint' ? edge.gates : undefined;
  return runGates({ ...(await gateSettings(settingsFolders(session, runId))), ...recorded });
}

/** The session as it was with the checkpoint. Whatever was recorded since does not change the reply. */
async function sessionThen(
  services: Services,
  { session, isRepeated }: Saved,
  created: NodeId,
): Promise<Result<LoadedSession, CheckpointRefusal>> {
  if (!isRepeated) return ok(session);
  const then = await sessionAsOf(services, session, nodeOf(session.view.graph, created).createdIndex);
  return then.mapErr((why) => (why.code === 'session_not_found' ? sessionGone(session.sessionId) : why));
}

/** The reply depends on the checkpoint's node only, so that a replay returns the same one. */
async function replyAt(
  services: Services,
  saved: Saved,
  kept: Kept & { readonly odd: readonly WarningFact[] },
): Promise<Result<GivenReply, CheckpointRefusal>> {
  return safeTry(async function* () {
    const { target, keys } = kept.found;
    const { created } = kept;
    const then = yield* await sessionThen(services, saved, created);
    const gates = await gatesThen(services, then, created);
    const place = yield* await runPlace(services, then, { ...target, nodeId: created, gates });
    const { index, snapshot, facts, openGaps } = place;
    const { state } = snapshot.enginePayload;
    const { view } = then;
    const standing = yield* await standingBlock(services, place, { view, nodeId: created, isLeft: false });
    const listed = listedGaps(state.kind === 'complete' ? openGaps.map(({ data }) => data) : []);
    const isOwn = isRecorded(then, kept, services);
    const found = isOwn ? [...kept.odd, ...warningFacts(readOutput(place, kept), kept)] : [];
    const isReopened = await isReopenedBy(services, then, created);
    const reopened: readonly WarningFact[] = isReopened ? [{ code: 'run_closed', isReopened }] : [];
    const warnings = [...reopened, ...found, ...listed.warnings].map((fact) =>
      replyWarning(fact, facts.preferences.riskPolicy),
    );
    const { runId, sessionId } = target;
    const line = runLine(view, created);
    const shown = { index, state, facts, line, warnings, gaps: listed.gaps, ...standing };
    const stored = stepReply({ runId, lifecycle: 'checkpoint', ...shown });
    const mint = { ...keys, form: services.tokenForm };
    const reply = giveReply(stored, newNode(sessionId, created), { view, mint });
    if (isOwn) return ok(reply);
    // Output that cannot be saved from here any more is still reported as ignored.
    const next = nextTries({ sessionId, nodeId: created }, saved.session.view);
    const checkpointToken = next.isErr() ? undefined : checkpointTokenOf(next.value, { view, mint });
    return ok(withIgnoredCheckpoint(reply, { output: sentOutput(kept), checkpointToken }));
  });
}

/** The output of the call, to be sent again. */
function sentOutput({ notesMarkdown, sealed, isCorrection }: Kept): JsonObject {
  const artifacts = sealed.artifacts.map(({ value }) => value);
  return {
    ...defined({ notesMarkdown }),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(isCorrection ? { replacesNotes: true } : {}),
  };
}

/**
 * Whether the checkpoint holds what this call sent. An earlier call with the same token may have sent something else.
 */
function isRecorded({ view }: LoadedSession, kept: Kept, { hasher }: Services): boolean {
  const from = { attempt: kept.attempt, created: { runId: kept.found.target.runId, nodeId: kept.created } };
  const sent = outputDrafts(outputOf(kept), from, hasher.sha256).drafts.map(({ data }) => data);
  const recorded = outputHistory(view.outputs, kept.created).map(({ output }) => output.data);
  const correction = correctionOf(view, kept, hasher.sha256)?.data;
  if (kept.isCorrection !== (correction !== undefined)) return false;
  if (correction?.outputChannel === 'recap') {
    const { notesMarkdown } = correction.payload;
    if (notesMarkdown !== truncate(kept.notesMarkdown ?? '', NOTE_BYTES_MAX)) return false;
  }
  return canonicalJson(sent).unwrapOr('') === canonicalJson(recorded).unwrapOr('');
}

function warningFacts({ unknownKinds, unreadable }: StepCheck, { notesMarkdown }: Kept): readonly WarningFact[] {
  return [
    ...(utf8Length(notesMarkdown ?? '') > NOTE_BYTES_MAX ? [{ code: 'note_cut' } as const] : []),
    ...unreadable.map(({ message, corrected }) => ({ code: 'unreadable_artifact', message, corrected }) as const),
    ...(unknownKinds.length === 0 ? [] : [{ code: 'unknown_artifact_kind', kinds: unknownKinds } as const]),
  ];
}

/** What the checkpoint's own node holds. A correction hangs on the node of the note that it replaces. */
function outputOf({ notesMarkdown, sealed, isCorrection }: Kept) {
  return { notesMarkdown: isCorrection ? undefined : notesMarkdown, artifacts: sealed.artifacts.map(({ ref }) => ref) };
}

async function checkPair(
  services: Services,
  target: TokenTarget,
  { stateToken, sessionToken }: CheckpointRequest,
): Promise<Result<void, TokenRefusal | StoreFailure>> {
  if (stateToken !== undefined) {
    const state = await findTokenNode(services, { text: stateToken, slot: 'stateToken' });
    const pair = state.andThen((found) => checkTokenPair(found.target, target));
    if (pair.isErr()) return err(pair.error);
  }
  if (sessionToken === undefined) return ok(undefined);
  // It names the root node, and notes are saved below it, so only the run is compared.
  const root = await findTokenNode(services, { text: sessionToken, slot: 'sessionToken' });
  const isSame = (found: TokenTarget) => found.sessionId === target.sessionId && found.runId === target.runId;
  return root
    .andThen((found) => (isSame(found.target) ? ok(target) : checkTokenPair(found.target, target)))
    .map(() => undefined);
}
