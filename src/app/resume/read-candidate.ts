import { err, type Ok, ok, type Result } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import { defined } from '../../core/json/json-value.ts';
import { GOAL_SUMMARY_BYTES_MAX, RESUME_SNIPPET_BYTES_MAX } from '../../core/log/budgets.ts';
import { pendingStep } from '../../core/log/execution-snapshot.ts';
import { runTag, type SessionId } from '../../core/log/ids.ts';
import { isTrusted, type SessionOrigin } from '../../core/log/origin.ts';
import { runSource } from '../../core/prompt/reply-parts.ts';
import { titleWithoutValues } from '../../core/prompt/step/fill-values.ts';
import {
  type ForeignRun,
  type OfferedRun,
  type ResumeCandidate,
  shorterCandidate,
  type UnacceptedRun,
} from '../../core/resume/candidate.ts';
import type { RankedRun } from '../../core/resume/rank-runs.ts';
import type { ShownCandidate } from '../../core/resume/resume-replies.ts';
import { searchedText } from '../../core/sessions/session-summary.ts';
import { truncate } from '../../core/text/utf8.ts';
import type { TokenMint, TokenTarget } from '../../core/token/node-token.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { indexWorkflow, stepOf } from '../../core/workflow/compiled/workflow-index.ts';
import { stateTokenOf } from '../run/give-reply.ts';
import type { RehydrateRefusal } from '../run/rehydrate.ts';
import { readPlace } from '../run/run-place.ts';
import type { ReadServices } from '../services.ts';
import type { VerifiedRuns } from './verified-runs.ts';

export type CandidateReader = {
  readonly services: ReadServices;
  readonly sessions: VerifiedRuns['sessions'];
  readonly origins: VerifiedRuns['origins'];
  readonly mint: TokenMint;
};

/** Why a run cannot be shown. The others are shown without it, unless it was asked for. */
export type UnreadableRun = { readonly sessionId: SessionId; readonly cause: RehydrateRefusal };

export function unreadableRun({ session }: RankedRun): (cause: RehydrateRefusal) => UnreadableRun {
  return (cause) => ({ sessionId: session.sessionId, cause });
}

/** The preferred tip of a run, as a token would name it. */
export function tipOf({ session, run }: RankedRun): TokenTarget {
  const { runId, workflowId } = run;
  const { tip: nodeId } = run;
  return { kind: 'state', sessionId: session.sessionId, runId, nodeId, tag: runTag(runId), workflowId };
}

/** A run as it is offered: one of another workspace, or one that no person accepted, without its notes and tokens. */
export async function readCandidate(
  reader: CandidateReader,
  ranked: RankedRun,
): Promise<Result<OfferedRun, UnreadableRun>> {
  return closedRun(reader, ranked) ?? readOwn(reader, ranked);
}

/** A run of which only enough is shown to recognise it. */
function closedRun(reader: CandidateReader, ranked: RankedRun): Ok<ForeignRun | UnacceptedRun, never> | undefined {
  const origin = reader.origins.get(ranked.session.sessionId);
  if (origin !== undefined && !isTrusted(origin)) return ok(unacceptedRun(reader, ranked, origin));
  return ranked.isForeign ? ok(foreignRun(ranked)) : undefined;
}

function unacceptedRun({ sessions }: CandidateReader, ranked: RankedRun, origin: SessionOrigin): UnacceptedRun {
  const { session, run, whyMatched } = ranked;
  const { sessionId, lastAt } = session;
  const { runId, workflowId, status, goal } = run;
  const pinned = sessionOf(sessions, ranked).view.graph.runs.get(runId)?.pinned;
  const source = pinned === undefined ? 'unknown source' : runSource(pinned, { isImported: true });
  const shown = { sessionId, runId, workflowId, status, ...defined({ goal, lastAt }), whyMatched, origin, source };
  return shorterCandidate({ ...shown, isAccepted: false }, GOAL_SUMMARY_BYTES_MAX);
}

function foreignRun({ session, run, whyMatched }: RankedRun): ForeignRun {
  const { sessionId, lastAt, observed } = session;
  const { runId, goal } = run;
  const foreign = {
    sessionId,
    runId,
    ...defined({ goal, lastAt }),
    workspace: observed.repo_root ?? observed.repo_remote ?? '',
    whyMatched,
  };
  return shorterCandidate(foreign, GOAL_SUMMARY_BYTES_MAX);
}

async function readOwn(
  { services, sessions, origins, mint }: CandidateReader,
  ranked: RankedRun,
): Promise<Result<ResumeCandidate, UnreadableRun>> {
  const { sessionId, lastAt } = ranked.session;
  const { runId, workflowId, goal, status, tip } = ranked.run;
  const session = sessionOf(sessions, ranked);
  const place = await readPlace(services, session, tipOf(ranked));
  if (place.isErr()) return err(unreadableRun(ranked)(place.error));
  const { workflow, snapshot } = place.value;
  const stepId = pendingStep(snapshot)?.stepId;
  const stepTitle =
    stepId === undefined ? undefined : titleWithoutValues(stepOf(indexWorkflow(workflow), stepId).title);
  const candidate: ResumeCandidate = {
    sessionId,
    runId,
    workflowId,
    title: workflow.name,
    ...defined({ goal }),
    status,
    ...defined({ stepTitle, lastAt }),
    stateToken: stateTokenOf({ sessionId, nodeId: tip }, { view: session.view, mint }),
    whyMatched: ranked.whyMatched,
    ...defined({ origin: origins.get(sessionId), owner: ranked.isOthers ? ranked.run.owner : undefined }),
  };
  return ok(shorterCandidate(candidate, GOAL_SUMMARY_BYTES_MAX));
}

/** The same with the start of the notes that search reads. */
export async function readWithSnippet(
  reader: CandidateReader,
  ranked: RankedRun,
): Promise<Result<ShownCandidate, UnreadableRun>> {
  const closed = closedRun(reader, ranked);
  if (closed !== undefined) return closed;
  const { view } = sessionOf(reader.sessions, ranked);
  const text = searchedText(view, nodeOf(view.graph, ranked.run.tip)).trim();
  const candidate = await readOwn(reader, ranked);
  return candidate.map((one) => ({ ...one, snippet: truncate(text, RESUME_SNIPPET_BYTES_MAX) }));
}

export function sessionOf(sessions: VerifiedRuns['sessions'], { session }: RankedRun) {
  const found = sessions.get(session.sessionId);
  assert(found !== undefined, `${session.sessionId} is shown only after it was read`);
  return found;
}
