import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { defined } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { type NodeId, type RunId, runTag, type SessionId } from '../../core/log/ids.ts';
import { fillReply } from '../../core/log/operation/stored-reply.ts';
import { voidedWords } from '../../core/run/gate-facts.ts';
import {
  boardPage,
  readFilter,
  type SessionRow,
  titleOf,
  type UnknownFilter,
  waitsForPersonIn,
} from '../../core/sessions/board-rows.ts';
import { listedSessionData, runData } from '../../core/sessions/describe-session.ts';
import { resumePrompt } from '../../core/sessions/resume-prompt.ts';
import { brokenState, sessionState } from '../../core/sessions/session-state.ts';
import { attestationWords } from '../../core/views/attestations.ts';
import {
  type CONSOLE_INPUTS,
  type ConsoleInput,
  type ConsoleReply,
  PAGE_OF_SESSIONS,
  type WaitingItem,
} from '../../core/wire/console-shapes.ts';
import type { ExportRefusal } from '../bundle/export-session.ts';
import type { ImportRefusal } from '../bundle/import-session.ts';
import type { MarkStore } from '../ports/session-marks.ts';
import type { LoadRefusal } from '../ports/session-store.ts';
import type { AnswerIds } from '../ports/system-services.ts';
import type { BinRefusal, RestoreRefusal } from '../ports/upkeep.ts';
import { type ReportServices, readReport } from '../report.ts';
import { type AnswerRefusal, answerGate, boundFileLines, type PersonAnswer } from '../run/answer-gate.ts';
import type { AnswerServices } from '../services.ts';
import type { AcceptRefusal } from '../upkeep/accept-session.ts';
import type { CloseRefusal } from '../upkeep/close-runs.ts';
import { type InspectServices, inspectSession } from './inspect-session.ts';
import { type ResumeCallRefusal, type ResumeCallServices, resumeCall } from './resume-call.ts';
import { type ListServices, sessionBoard } from './session-board.ts';
import { type WaitingRun, waitingRuns } from './waiting-runs.ts';

/** Why a session cannot be brought in, taken out or put away. */
type ExchangeRefusal = ImportRefusal | ExportRefusal | AcceptRefusal | BinRefusal | RestoreRefusal;

/** What the pages of the console need: everything that reads, and the one way to record a person's answer. */
export type ConsoleServices = AnswerServices &
  ListServices &
  InspectServices &
  ReportServices &
  ResumeCallServices & {
    readonly answerIds: AnswerIds;
    readonly marks: MarkStore;
    /** Home folders, which reports hide. */
    readonly homes: readonly string[];
    readonly shortIds: (sessionIds: readonly SessionId[]) => (sessionId: SessionId) => string;
    /** Why something cannot be shown or done, in words for a person. */
    readonly explain: (
      refusal: LoadRefusal | AnswerRefusal | ResumeCallRefusal | CloseRefusal | ExchangeRefusal,
    ) => ErrorEnvelope;
  };

type Page<Path extends keyof typeof import('../../core/wire/console-shapes.ts').CONSOLE_REPLIES> = Promise<
  Result<ConsoleReply<Path>, ErrorEnvelope>
>;

/** A page of the list of sessions. */
export async function sessionsPage(services: ConsoleServices, asked: ConsoleInput<'sessions'>): Page<'sessions'> {
  const board = await sessionBoard(services);
  if (board.isErr()) return err(services.explain(board.error));
  const { rows } = board.value;
  const {
    q = '',
    state,
    sort,
    group,
    offset = 0,
    limit = PAGE_OF_SESSIONS,
  } = asked as z.output<typeof CONSOLE_INPUTS.sessions>;
  const filter = readFilter([q], services.clock.nowMs());
  if ('key' in filter) return err(unknownFilter(filter));
  const states = state === undefined ? filter.states : [state];
  const page = boardPage(rows, { ...filter, states, sort, group, offset, limit });
  const shortId = services.shortIds(rows.map(({ sessionId }) => sessionId));
  return ok({
    rows: page.rows.map((row) => listRow(row, shortId)),
    total: page.total,
    counts: page.counts,
    groups: [...page.groups],
    stored: rows.length,
    waiting: rows.filter(waitsForPersonIn).length,
  });
}

function unknownFilter({ key, value }: UnknownFilter): ErrorEnvelope {
  return {
    code: 'VALIDATION_ERROR',
    message: `The filter ${key}: does not know "${value}".`,
    suggestion: 'Filters are state:blocked, wf:coding, repo:api, branch:main and after:2d.',
    retry: { kind: 'not_retryable' },
  };
}

type ListRow = ConsoleReply<'sessions'>['rows'][number];

function listRow(row: SessionRow, shortId: (sessionId: SessionId) => string): ListRow {
  const { isHere: _, ...listed } = listedSessionData(row, { shortId, workspaces: [] });
  const run = row.summary?.runs.find(({ runId }) => !row.closed.has(runId));
  const place = run?.place.kind === 'step' ? run.place : undefined;
  return {
    ...listed,
    ...defined({
      step: place && { title: place.title, ...defined({ index: place.position?.index, of: place.position?.of }) },
      note: run?.note,
    }),
    branches: run?.branchCount ?? 0,
    attempts: run?.attempts ?? 0,
    openGaps: run?.openGaps ?? 0,
    waitsForPerson: waitsForPersonIn(row),
  };
}

/** A session with the state of its runs and everything that was recorded. */
export async function sessionPage(services: ConsoleServices, sessionId: SessionId): Page<'session'> {
  const [inspected, report] = await Promise.all([
    inspectSession(services, sessionId, 'standing'),
    readReport(services, { sessionIds: [sessionId], isRedacted: false, homes: [] }),
  ]);
  if (inspected.isErr()) return err(services.explain(inspected.error));
  const record = report.isErr() ? undefined : report.value.sessions[0];
  if (record === undefined) return err(services.explain({ code: 'session_not_found', sessionId }));
  const { health, isKept, runs } = inspected.value;
  const ids = await services.sessions.list();
  return ok({
    sessionId,
    shortId: services.shortIds(ids.unwrapOr([sessionId]))(sessionId),
    state: brokenState(health) ?? sessionState(runs),
    health,
    ...defined({ title: titleOf(runs) }),
    isKept,
    runs: runs.map(runData),
    record,
  });
}

/** A text for a new chat, which lets an agent without any context continue the run. */
export async function resumePage(
  services: ConsoleServices,
  { sessionId, runId }: { readonly sessionId: SessionId; readonly runId: RunId },
): Page<'resume'> {
  const inspected = await inspectSession(services, sessionId, 'standing');
  if (inspected.isErr()) return err(services.explain(inspected.error));
  const run = inspected.value.runs.find((one) => one.runId === runId);
  if (run?.tip === undefined) return err(services.explain({ code: 'session_not_found', sessionId }));
  const call = await resumeCall(services, inspected.value, { runId });
  if (call.isErr()) return err(services.explain(call.error));
  const isBlocked = run.status === 'blocked';
  return ok({ prompt: resumePrompt({ run, place: run.place, isBlocked, isEarlier: false, call: call.value }) });
}

const TOKEN_PLACE = '…';

/** What the agent was sent when a step became the current one. Nothing is rendered again. */
export async function promptPage(
  services: ConsoleServices,
  { sessionId, nodeId }: { readonly sessionId: SessionId; readonly nodeId: NodeId },
): Page<'prompt'> {
  const loaded = await services.sessions.loadValidPrefix(sessionId);
  if (loaded.isErr()) return err(services.explain(loaded.error));
  const { graph, advances } = loaded.value.view;
  const parent = graph.nodes.get(nodeId)?.parentNodeId;
  for (const { eventIndex, data } of parent ? (advances.get(parent)?.values() ?? []) : []) {
    const { outcome } = data;
    const madeId = outcome.kind === 'advanced' ? outcome.toNodeId : outcome.attemptNodeId;
    if (madeId !== nodeId) continue;
    const stored = await services.sessions.storedReply(sessionId, eventIndex);
    if (stored.isErr()) return err(services.explain(stored.error));
    const holes = { sessionId: TOKEN_PLACE, stateToken: TOKEN_PLACE, ackToken: TOKEN_PLACE };
    return ok({
      text: fillReply(stored.value, { ...holes, checkpointToken: TOKEN_PLACE, againToken: TOKEN_PLACE }).text,
    });
  }
  return err(NO_PROMPT);
}

const NO_PROMPT: ErrorEnvelope = {
  code: 'VALIDATION_ERROR',
  message: 'The reply that began this step is not in the log: the first step of a run and checkpoints have none.',
  suggestion: 'The prompt of the step is in its workflow.',
  retry: { kind: 'not_retryable' },
};

/** Everything that waits for a person. */
export async function waitingPage(services: ConsoleServices): Page<'waiting'> {
  const found = await waitingRuns(services);
  return found.isErr() ? err(services.explain(found.error)) : ok({ waiting: found.value.map(waitingItem) });
}

function waitingItem({ waiting, goal, workspace, at }: WaitingRun): WaitingItem {
  const {
    sessionId,
    runId,
    nodeId,
    step,
    question,
    contextKey,
    digest,
    code,
    workflow,
    draft,
    answer,
    voided,
    accept,
  } = waiting;
  return {
    sessionId,
    runId,
    tag: runTag(runId),
    nodeId,
    stepTitle: step.title,
    question,
    ...defined({ contextKey, goal, folder: workspace, lastAt: at }),
    digest,
    code,
    workflow,
    draft: {
      ...defined({ notes: draft.notesMarkdown }),
      artifacts: draft.artifacts.map(({ kind, value }) => ({ ...defined({ kind }), value })),
      context: draft.context,
    },
    files: [...boundFileLines(waiting)],
    ...defined({
      answered: answer && attestationWords(answer),
      voided: voided && voidedWords(voided),
    }),
    isAccepted: accept.includes('console'),
  };
}

export type ConsoleAnswer = ConsoleInput<'answer'> & {
  readonly sessionId: SessionId;
  readonly nodeId: NodeId;
  /** When the page first showed the draft. */
  readonly askedAt: number;
};

/** Records what a person answered in the console, about exactly the draft that was shown. */
export async function recordAnswer(services: ConsoleServices, given: ConsoleAnswer): Page<'answer'> {
  const { sessionId, nodeId, digest, askedAt } = given;
  const waiting = await waitingRuns(services);
  if (waiting.isErr()) return err(services.explain(waiting.error));
  const open = waiting.value.find((one) => one.waiting.nodeId === nodeId && one.waiting.sessionId === sessionId);
  // A newer draft has taken its place: an approval of the old one would open nothing.
  if (open === undefined || open.waiting.digest !== digest) return err(services.explain({ code: 'not_waiting' }));
  if (!isFitting(given, open.waiting.contextKey)) return err(UNFITTING);
  const statement = statementOf(given);
  const by: PersonAnswer['by'] = {
    via: 'console',
    launch: services.answerIds.launch,
    askedAt,
    answerMs: Math.max(0, services.clock.nowMs() - askedAt),
  };
  const answer = { attestationId: services.answerIds.attestation(), digest, statement, by };
  const recorded = await answerGate(services, { sessionId, nodeId }, answer);
  return recorded.isErr() ? err(services.explain(recorded.error)) : ok({ words: attestationWords({ statement, by }) });
}

/** A question is answered with a value, and anything else is approved or rejected. */
function isFitting({ decision, value }: ConsoleAnswer, contextKey: string | undefined): boolean {
  if (contextKey === undefined) return decision !== 'answered' && value === undefined;
  return decision === 'answered' && value !== undefined && value !== '';
}

const UNFITTING: ErrorEnvelope = {
  code: 'VALIDATION_ERROR',
  message: 'This answer does not fit what was asked. Nothing was recorded.',
  suggestion: 'Reload the page.',
  retry: { kind: 'not_retryable' },
};

function statementOf({ decision, comment, value }: ConsoleAnswer): PersonAnswer['statement'] {
  const said = { shown: 'whole', ...(comment?.trim() ? { comment: comment.trim() } : {}) } as const;
  return decision === 'answered' ? { kind: decision, ...said, ...defined({ value }) } : { kind: decision, ...said };
}
