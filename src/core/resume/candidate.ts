import { defined, type JsonObject, quote } from '../json/json-value.ts';
import { INLINE_VALUE_BYTES_MAX } from '../log/budgets.ts';
import type { Call } from '../log/error-envelope.ts';
import { type RunId, runTag, type SessionId, type WorkflowId } from '../log/ids.ts';
import {
  acceptCommand,
  originLabel,
  originWords,
  type SessionOrigin,
  type ShownOrigin,
  shownOrigin,
} from '../log/origin.ts';
import { callText } from '../prompt/reply/footer.ts';
import { utcMinute } from '../text/utc-time.ts';
import { clip } from '../text/utf8.ts';
import { visibleJson } from '../text/visible-text.ts';
import type { RunStatus } from '../views/run-status.ts';
import { type MatchReason, matchWords } from './rank-runs.ts';

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
  /** Absent for a run that was started here. */
  readonly origin?: SessionOrigin;
  /** Who started it, if it is somebody else's. */
  readonly owner?: string;
};

/** A run of another workspace: enough to recognise it, and no more until it is asked for by its id. */
export type ForeignRun = Pick<ResumeCandidate, 'sessionId' | 'runId' | 'goal' | 'lastAt' | 'whyMatched'> & {
  readonly workspace: string;
};

/** An imported run that no person accepted: enough to recognise it, and no way into it. */
export type UnacceptedRun = Pick<
  ResumeCandidate,
  'sessionId' | 'runId' | 'workflowId' | 'goal' | 'status' | 'lastAt' | 'whyMatched'
> & { readonly origin: SessionOrigin; readonly source: string; readonly isAccepted: false };

export type OfferedRun = ResumeCandidate | ForeignRun | UnacceptedRun;

export function isUnacceptedRun(run: OfferedRun): run is UnacceptedRun {
  return 'isAccepted' in run;
}

export function isForeignRun(run: OfferedRun): run is ForeignRun {
  return 'workspace' in run;
}

/** The call that shows where a run stands and changes nothing. */
export function showCall(run: Exclude<OfferedRun, UnacceptedRun>): Call {
  return isForeignRun(run)
    ? { tool: 'resume_session', arguments: { runId: run.runId } }
    : { tool: 'continue_workflow', arguments: { stateToken: run.stateToken } };
}

export function candidateData(candidate: OfferedRun): JsonObject {
  if (isForeignRun(candidate)) return foreignData(candidate);
  if (isUnacceptedRun(candidate)) return unacceptedData(candidate);
  const { sessionId, runId, workflowId, title, goal, status, stepTitle, lastAt, stateToken, whyMatched, owner } =
    candidate;
  return defined({
    sessionId,
    runId,
    run: { tag: runTag(runId), workflowId, title },
    goal,
    status,
    stepTitle,
    owner,
    lastActive: lastAt === undefined ? undefined : utcMinute(lastAt),
    whyMatched,
    ...originData(candidate),
    stateToken,
    nextCall: showCall(candidate),
  });
}

function originData({ origin }: Pick<ResumeCandidate, 'origin'>): { readonly origin?: ShownOrigin } {
  return origin === undefined ? {} : { origin: shownOrigin(origin) };
}

function unacceptedData(run: UnacceptedRun): JsonObject {
  const { sessionId, runId, workflowId, goal, status, lastAt, whyMatched, source } = run;
  return defined({
    sessionId,
    runId,
    run: { tag: runTag(runId), workflowId, source },
    goal,
    status,
    lastActive: lastAt === undefined ? undefined : utcMinute(lastAt),
    whyMatched,
    ...originData(run),
    acceptCommand: acceptCommand(run),
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
  const way = isUnacceptedRun(candidate)
    ? `only after the user ran \`${acceptCommand(candidate)}\` in a terminal`
    : callText(showCall(candidate)).join('');
  return `${[...partsOf(candidate), ...age].join(' · ')} · ${matchWords(candidate.whyMatched)}: ${way}`;
}

function partsOf(candidate: OfferedRun): readonly string[] {
  if (isForeignRun(candidate)) return foreignParts(candidate);
  if (!isUnacceptedRun(candidate)) return ownParts(candidate);
  const { goal, runId, workflowId, source, status, origin } = candidate;
  return [
    goal === undefined ? 'no goal' : quotedLine(goal),
    `run ${runTag(runId)} of ${workflowId} (${source})`,
    STATUS[status],
    originWords(shownOrigin(origin)),
  ];
}

function foreignParts({ goal, workspace }: ForeignRun): readonly string[] {
  return [goal === undefined ? 'no goal' : quotedLine(goal), `in another workspace, ${quotedLine(workspace)}`];
}

function ownParts(candidate: ResumeCandidate): readonly string[] {
  const { runId, workflowId, title, goal, status, stepTitle, origin, owner } = candidate;
  return [
    quotedLine(goal ?? title),
    `run ${runTag(runId)} of ${workflowId}`,
    `${STATUS[status]}${stepTitle === undefined ? '' : ` at ${quotedLine(stepTitle)}`}`,
    ...(origin === undefined ? [] : [originLabel(shownOrigin(origin))]),
    ...(owner === undefined ? [] : [`started by ${quotedLine(owner)}`]),
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
  if (isForeignRun(candidate) || isUnacceptedRun(candidate))
    return { ...candidate, ...defined({ goal: shorter(goal) }) };
  const { title, stepTitle } = candidate;
  return {
    ...candidate,
    ...defined({ title: shorter(title), goal: shorter(goal), stepTitle: shorter(stepTitle) }),
  };
}
