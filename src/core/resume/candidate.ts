import { defined, type JsonObject, quote } from '../json/json-value.ts';
import { INLINE_VALUE_BYTES_MAX } from '../log/budgets.ts';
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

/** The call that shows where a run stands and changes nothing. */
export function showCall({ stateToken }: ResumeCandidate) {
  return { tool: 'continue_workflow', arguments: { stateToken } } as const;
}

export function candidateData(candidate: ResumeCandidate): JsonObject {
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

const STATUS: { readonly [status in RunStatus]: string } = {
  in_progress: 'in progress',
  blocked: 'blocked',
  complete: 'complete',
  complete_with_gaps: 'complete with gaps',
};

/** One line: what it is about, where it stands, why it is offered, and the call that shows it. */
export function candidateLine(candidate: ResumeCandidate): string {
  const { runId, workflowId, title, goal, status, stepTitle, lastAt, whyMatched } = candidate;
  const parts = [
    quotedLine(goal ?? title),
    `run ${runTag(runId)} of ${workflowId}`,
    `${STATUS[status]}${stepTitle === undefined ? '' : ` at ${quotedLine(stepTitle)}`}`,
    ...(lastAt === undefined ? [] : [`last active ${utcMinute(lastAt)}`]),
    `matched by ${reasonWords(whyMatched)}`,
  ];
  return `${parts.join(' · ')}: ${callText(showCall(candidate)).join('')}`;
}

/** A recorded text inside one of our lines. */
function quotedLine(text: string): string {
  return visibleJson(quote(clip(text.replaceAll(/\s+/g, ' ').trim(), INLINE_VALUE_BYTES_MAX)));
}

/** A candidate with its texts shortened; its ids and tokens are kept. */
export function shorterCandidate(candidate: ResumeCandidate, bytesMax: number): ResumeCandidate {
  const { title, goal, stepTitle } = candidate;
  const shorter = (text: string | undefined) => text && clip(text, bytesMax);
  return {
    ...candidate,
    ...defined({ title: clip(title, bytesMax), goal: shorter(goal), stepTitle: shorter(stepTitle) }),
  };
}
