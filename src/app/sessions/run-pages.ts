import { err, ok, type Result } from 'neverthrow';
import { defined, type JsonObject, type JsonValue } from '../../core/json/json-value.ts';
import type { Autonomy } from '../../core/log/autonomy.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import {
  type ArtifactDigest,
  type NodeId,
  type RunId,
  runTag,
  type SessionId,
  type SnapshotRef,
} from '../../core/log/ids.ts';
import { fillReply } from '../../core/log/operation/stored-reply.ts';
import { shownOrigin } from '../../core/log/origin.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import { titleOf } from '../../core/sessions/board-rows.ts';
import { runData } from '../../core/sessions/describe-session.ts';
import { resumePrompt } from '../../core/sessions/resume-prompt.ts';
import { hungOn, lineNotes } from '../../core/sessions/run-page.ts';
import { brokenState, sessionState } from '../../core/sessions/session-state.ts';
import { stepContent, stepPage } from '../../core/sessions/step-page.ts';
import { currentObservation } from '../../core/views/node-facts.ts';
import type { RunNode } from '../../core/views/run-graph.ts';
import { runLine } from '../../core/views/session-view.ts';
import type { ConsoleInput, ConsoleReply } from '../../core/wire/console-shapes.ts';
import { workflowDiff } from '../../core/workflow/outline/workflow-diff.ts';
import type { LoadRefusal } from '../ports/session-store.ts';
import { shownGoal } from '../run/advance-reply.ts';
import { findDrift } from '../run/drift-warnings.ts';
import { namedReference, standingBlock } from '../run/rehydrate.ts';
import { runPlace, settingsFolders, startFolderOf } from '../run/run-place.ts';
import type { AnswerServices, ReadServices } from '../services.ts';
import { type PreferRefusal, type PreferServices, setPreferences } from '../upkeep/set-preferences.ts';
import { type OpenedSession, type OpenServices, openSession, storedEvents } from './open-session.ts';
import { type ResumeCallRefusal, type ResumeCallServices, resumeCall } from './resume-call.ts';
import { type ListServices, noteHealth, type ShortIdServices, sessionBoard, wholeBoard } from './session-board.ts';

/** What the page of a session needs. */
export type RunPageServices = AnswerServices &
  OpenServices &
  ResumeCallServices &
  PreferServices &
  ListServices &
  ShortIdServices &
  Pick<ReadServices, 'catalog'> & {
    /** A mode, lowered to what the settings of these folders allow. */
    readonly allowedMode: (mode: Autonomy, folders: readonly string[]) => Promise<Autonomy>;
    /** Whether this is a person: without a terminal or a fresh sign-in, the page shows everything and decides nothing. */
    readonly mayDecide: boolean;
    readonly explain: (refusal: LoadRefusal | ResumeCallRefusal | PreferRefusal | NotAtTerminal) => ErrorEnvelope;
  };

/** Only a person decides this, and nothing shows that one started the console. */
export type NotAtTerminal = { readonly code: 'not_at_terminal' };

type Page<Path extends keyof typeof import('../../core/wire/console-shapes.ts').CONSOLE_REPLIES> = Promise<
  Result<ConsoleReply<Path>, ErrorEnvelope>
>;

type AtRun = { readonly sessionId: SessionId; readonly runId: RunId };
type AtNode = { readonly sessionId: SessionId; readonly nodeId: NodeId };

/** A session with the state of its runs. */
export async function sessionPage(services: RunPageServices, sessionId: SessionId): Page<'session'> {
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const { health, isKept, origin, salvage, runs, view } = opened.value;
  noteHealth(services, sessionId, health);
  const board = await sessionBoard(services);
  return ok({
    sessionId,
    shortId: board.isErr() ? sessionId : wholeBoard(services, board.value.rows).shortId(sessionId),
    state: brokenState(health) ?? sessionState(runs),
    health,
    ...defined({
      title: titleOf(runs),
      origin: origin && shownOrigin(origin),
      salvage,
      folder: currentObservation(view.observations, 'repo_root')?.data.value.value,
      branch: currentObservation(view.observations, 'git_branch')?.data.value.value,
    }),
    isKept,
    runs: runs.map(runData),
  });
}

/** The steps of a run. */
export async function runPageOf(services: RunPageServices, { sessionId, runId }: AtRun): Page<'run'> {
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const page = opened.value.runPage(runId);
  return page === undefined ? err(NO_RUN) : ok(page);
}

/** The notes of a line in windows. */
export async function notesPage(
  services: RunPageServices,
  { sessionId, runId }: AtRun,
  window: Parameters<typeof lineNotes>[2],
): Page<'notes'> {
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const notes = lineNotes(opened.value, runId, window);
  return notes === undefined ? err(NO_RUN) : ok(notes);
}

type StepQuery = { readonly by?: NodeId | undefined; readonly line: string };

/** Everything about one step of a line. */
export async function stepPageOf(services: RunPageServices, at: AtNode, asked: StepQuery): Page<'step'> {
  const found = await openStep(services, at, asked.by);
  if (found.isErr()) return err(found.error);
  const { opened, due, doneBy } = found.value;
  const { view, placeOf, history } = opened;
  const needed = stepContent(view, { due, doneBy });
  const snapshots = new Map<SnapshotRef, ExecutionSnapshot>();
  for (const ref of needed.snapshots) {
    const snapshot = await services.snapshots.get(ref);
    if (snapshot.isOk()) snapshots.set(ref, snapshot.value);
  }
  const artifacts = new Map<ArtifactDigest, JsonValue>();
  for (const digest of needed.artifacts) {
    const artifact = await services.artifacts.getJson(digest);
    if (artifact.isOk()) artifacts.set(digest, artifact.value.value);
  }
  const workflow = opened.workflowOf(due.workflowHash);
  const workflows = new Map(workflow === undefined ? [] : [[due.workflowHash, workflow]]);
  const source = { view, placeOf, history, snapshots, artifacts, workflows };
  return ok(stepPage(source, { due, doneBy, line: asked.line }));
}

/** The events of one step as they are stored. */
export async function rawPage(services: RunPageServices, at: AtNode, { by }: Pick<StepQuery, 'by'>): Page<'raw'> {
  const found = await openStep(services, at, by);
  if (found.isErr()) return err(found.error);
  const { opened, due, doneBy } = found.value;
  const nodes = [due, ...hungOn(opened.view, due, doneBy), ...(doneBy === undefined ? [] : [doneBy])];
  const stored = await storedEvents(services, at.sessionId);
  if (stored.isErr()) return err(services.explain(stored.error));
  const events = nodes.flatMap(({ nodeId }) => stored.value.eventsAt(nodeId));
  return ok({ events: events.map((event) => JSON.parse(JSON.stringify(event)) as JsonObject) });
}

type OpenedStep = { readonly opened: OpenedSession; readonly due: RunNode; readonly doneBy: RunNode | undefined };

async function openStep(
  services: RunPageServices,
  { sessionId, nodeId }: AtNode,
  by: NodeId | undefined,
): Promise<Result<OpenedStep, ErrorEnvelope>> {
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const { nodes } = opened.value.view.graph;
  const due = nodes.get(nodeId);
  const doneBy = by === undefined ? undefined : nodes.get(by);
  if (due === undefined || (by !== undefined && doneBy?.runId !== due.runId)) return err(NO_STEP);
  return ok({ opened: opened.value, due, doneBy });
}

/** A text for a new chat, which lets an agent continue a run, or go back to one of its steps. */
export async function resumePage(
  services: RunPageServices,
  { sessionId, runId }: AtRun,
  nodeId: NodeId | undefined,
): Page<'resume'> {
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const { runs, view, placeOf } = opened.value;
  const run = runs.find((one) => one.runId === runId);
  const node = nodeId === undefined ? undefined : view.graph.nodes.get(nodeId);
  if (run?.tip === undefined || (nodeId !== undefined && node?.runId !== runId)) return err(NO_RUN);
  const call = await resumeCall(services, opened.value, { runId, ...defined({ nodeId }) });
  if (call.isErr()) return err(services.explain(call.error));
  const isBlocked = nodeId === undefined && run.status === 'blocked';
  const place = node === undefined ? run.place : placeOf(node.nodeId);
  const isEarlier = node?.hasStepBelow ?? false;
  return ok({ prompt: resumePrompt({ run, place, isBlocked, isEarlier, call: call.value }) });
}

/** What the agent was sent when a step became the current one. Nothing is rendered again but the first reply of a run. */
export async function promptPage(services: RunPageServices, { sessionId, nodeId }: AtNode): Page<'prompt'> {
  const loaded = await services.sessions.loadValidPrefix(sessionId);
  if (loaded.isErr()) return err(services.explain(loaded.error));
  const { graph, advances } = loaded.value.view;
  const asked = graph.nodes.get(nodeId);
  if (asked === undefined) return err(NO_STEP);
  // A checkpoint changes nothing: the step is still the one above.
  const node = asked.kind === 'checkpoint' ? (graph.nodes.get(asked.hostNodeId) ?? asked) : asked;
  if (node.parentNodeId === null) return firstPrompt(services, { sessionId, nodeId: node.nodeId });
  for (const { eventIndex, data } of advances.get(node.parentNodeId)?.values() ?? []) {
    const { outcome } = data;
    const madeId = outcome.kind === 'advanced' ? outcome.toNodeId : outcome.attemptNodeId;
    if (madeId !== node.nodeId) continue;
    const stored = await services.sessions.storedReply(sessionId, eventIndex);
    return stored.isErr()
      ? err(services.explain(stored.error))
      : ok({ text: withoutTokens(stored.value), isStored: true });
  }
  return err(NO_PROMPT);
}

/** The reply to the start of a run is not stored, so it is rendered again from what the log says. */
async function firstPrompt(services: RunPageServices, { sessionId, nodeId }: AtNode): Page<'prompt'> {
  const session = await services.sessions.load(sessionId);
  if (session.isErr()) return err(NO_PROMPT);
  const { view } = session.value;
  const node = view.graph.nodes.get(nodeId);
  const run = node && view.graph.runs.get(node.runId);
  if (node === undefined || run === undefined) return err(NO_STEP);
  const { runId } = node;
  const { workflowId } = run.pinned;
  const target = { kind: 'state', sessionId, runId, nodeId, tag: runTag(runId), workflowId } as const;
  const place = await runPlace(services, session.value, target);
  if (place.isErr()) return err(NO_PROMPT);
  const { index, snapshot, facts } = place.value;
  const { state } = snapshot.enginePayload;
  const standing =
    state.kind === 'init' ? await standingBlock(services, place.value, { view, nodeId, isLeft: false }) : ok({});
  if (standing.isErr()) return err(NO_PROMPT);
  const { references } = index.workflow;
  const reply = stepReply({
    runId,
    index,
    state,
    facts,
    line: runLine(view, nodeId),
    lifecycle: 'start',
    warnings: [],
    gaps: [],
    ...standing.value,
    ...defined({ goal: shownGoal(facts.context['goal']).text }),
    ...(references.length === 0 ? {} : { references: references.map(namedReference) }),
  });
  return ok({ text: withoutTokens(reply), isStored: false });
}

const TOKEN_PLACE = '…';

function withoutTokens(reply: StoredReply): string {
  const holes = { sessionId: TOKEN_PLACE, stateToken: TOKEN_PLACE, ackToken: TOKEN_PLACE };
  return fillReply(reply, { ...holes, checkpointToken: TOKEN_PLACE, againToken: TOKEN_PLACE }).text;
}

/** Whether the file of a run's workflow has changed since the run was started, and how. */
export async function driftPage(services: RunPageServices, { sessionId, runId }: AtRun): Page<'drift'> {
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const { view, workflowOf } = opened.value;
  const pinned = view.graph.runs.get(runId)?.pinned;
  if (pinned === undefined) return err(NO_RUN);
  const workspace = startFolderOf(opened.value, runId);
  // A team server does not see the folder that the file is in.
  if (pinned.workflowSourceKind === 'project' && workspace === undefined) return ok({ kind: 'unknown' });
  const { drift, now } = await findDrift(services, { pinned, workspace, restart: { attachTo: '' } });
  if (drift.kind !== 'changed') return ok({ kind: drift.kind });
  const before = workflowOf(pinned.workflowHash);
  const { parts, isReordered } =
    before === undefined || now === undefined ? { parts: [], isReordered: false } : workflowDiff(before, now);
  return ok({
    kind: 'changed',
    isReordered,
    changes: parts.map(({ part, id, kind, changes }) => ({
      part,
      id,
      kind,
      fields: changes.map(({ field }) => field),
    })),
  });
}

/** Changes the preferences of a run from its next attempt on. */
export async function preferPage(
  services: RunPageServices,
  { sessionId, runId }: AtRun,
  { mode, riskPolicy, isLoosening = false }: ConsoleInput<'prefer'>,
): Page<'prefer'> {
  if (isLoosening && !services.mayDecide) return err(services.explain({ code: 'not_at_terminal' }));
  const opened = await openSession(services, sessionId);
  if (opened.isErr()) return err(services.explain(opened.error));
  const folders = settingsFolders(opened.value, runId);
  const allowed = mode === undefined ? undefined : await services.allowedMode(mode, folders);
  const request = { sessionId, run: runId, mode: allowed, riskPolicy, isLooseningAllowed: isLoosening };
  const set = await setPreferences(services, request);
  if (set.isErr()) return err(services.explain(set.error));
  return ok({ ...defined({ cappedTo: allowed === mode ? undefined : allowed }) });
}

function unknown(message: string, suggestion: string): ErrorEnvelope {
  return { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } };
}

const NO_RUN = unknown('This session does not have such a run or branch.', 'Go back to the session.');
const NO_STEP = unknown('This session does not have such a step.', 'Go back to the session.');
const NO_PROMPT = unknown(
  'What the agent was sent is not in the log.',
  'The workflow contains the prompt of the step.',
);
