import { defined, type JsonObject, quote } from '../json/json-value.ts';
import { INLINE_VALUE_BYTES_MAX } from '../log/budgets.ts';
import type { Call } from '../log/error-envelope.ts';
import { type RunId, runTag, type SessionId, type WorkflowId } from '../log/ids.ts';
import { callText } from '../prompt/reply/footer.ts';
import { utcMinute } from '../text/utc-time.ts';
import { clip } from '../text/utf8.ts';
import { visibleJson } from '../text/visible-text.ts';
import type { RunStatus } from '../views/run-status.ts';
import { type MatchReason, reasonWords } from './rank-runs.ts';

/** A stored run that may be the one to resume, read and verified. */
export type ResumeCandidate = {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly workflowId: WorkflowId;
  readonly title: string;
  readonly goal?: string;
  readonly status: RunStatus;
  /** The pending step of its preferred tip; absent where none is pending. */
  readonly stepTitle?: string;
  readonly lastAt?: number;
  readonly stateToken: string;
  readonly whyMatched: readonly MatchReason[];
};

/** A run of another workspace: enough to recognise it, and no more until it is asked for by its id. */
export type ForeignRun = Pick<ResumeCandidate, 'sessionId' | 'runId' | 'goal' | 'lastAt' | 'whyMatched'> & {
  readonly workspace: string;
};

export type OfferedRun = ResumeCandidate | ForeignRun;

export function isForeignRun(run: OfferedRun): run is ForeignRun {
  return 'workspace' in run;
}

/** The call that shows where a run stands and changes nothing. */
export function showCall(run: OfferedRun): Call {
  return isForeignRun(run)
    ? { tool: 'resume_session', arguments: { runId: run.runId } }
    : { tool: 'continue_workflow', arguments: { stateToken: run.stateToken } };
}

export function candidateData(candidate: OfferedRun): JsonObject {
  if (isForeignRun(candidate)) return foreignData(candidate);
  const { sessionId, runId, workflowId, title, goal, status, stepTitle, lastAt, stateToken, whyMatched } = candidate;
  return defined({
    sessionId,
    runId,
    run: { tag: runTag(runId), workflowId, title },
    goal,
    status,
    stepTitle,
    lastActive: lastAt === undefined ? undefined : utcMinute(lastAt),
    whyMatched,
    stateToken,
    nextCall: showCall(candidate),
  });
}

function foreignData(run: ForeignRun): JsonObject {
  const { sessionId, runId, goal, workspace, lastAt, whyMatched } = run;
  const lastActive = lastAt === undefined ? undefined : utcMinute(lastAt);
  return defined({ sessionId, runId, goal, workspace, lastActive, whyMatched, nextCall: showCall(run) });
}

const STATUS: { readonly [status in RunStatus]: string } = {
  in_progress: 'in progress',
  blocked: 'blocked',
  complete: 'complete',
  complete_with_gaps: 'complete with gaps',
};

/** One line: what it is about, where it stands, why it is offered, and the call that shows it. */
export function candidateLine(candidate: OfferedRun): string {
  const { lastAt } = candidate;
  const age = lastAt === undefined ? [] : [`last active ${utcMinute(lastAt)}`];
  const parts = [...(isForeignRun(candidate) ? foreignParts(candidate) : ownParts(candidate)), ...age];
  return `${parts.join(' · ')} · matched by ${reasonWords(candidate.whyMatched)}: ${callText(showCall(candidate)).join('')}`;
}

function foreignParts({ goal, workspace }: ForeignRun): readonly string[] {
  return [goal === undefined ? 'no goal' : quotedLine(goal), `in another workspace, ${quotedLine(workspace)}`];
}

function ownParts({ runId, workflowId, title, goal, status, stepTitle }: ResumeCandidate): readonly string[] {
  return [
    quotedLine(goal ?? title),
    `run ${runTag(runId)} of ${workflowId}`,
    `${STATUS[status]}${stepTitle === undefined ? '' : ` at ${quotedLine(stepTitle)}`}`,
  ];
}

/** A recorded text inside one of our lines. */
function quotedLine(text: string): string {
  return visibleJson(quote(clip(text.replaceAll(/\s+/g, ' ').trim(), INLINE_VALUE_BYTES_MAX)));
}

/** A candidate with its texts shortened; its ids and tokens are kept. */
export function shorterCandidate<Run extends OfferedRun>(candidate: Run, bytesMax: number): Run {
  const shorter = (text: string | undefined) => text && clip(text, bytesMax);
  const { goal } = candidate;
  if (isForeignRun(candidate)) return { ...candidate, ...defined({ goal: shorter(goal) }) };
  const { title, stepTitle } = candidate;
  return {
    ...candidate,
    ...defined({ title: shorter(title), goal: shorter(goal), stepTitle: shorter(stepTitle) }),
  };
}
