import { err, ok, type Result } from 'neverthrow';
import { RESUME_CANDIDATES_MAX } from '../../core/log/budgets.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { likelyRuns, type RankedRun, rankRuns, type WorkflowNames } from '../../core/resume/rank-runs.ts';
import type { ResumeQuestion } from '../../core/resume/resume-question.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { OtherWorkflowStored } from '../ports/content-stores.ts';
import type { LoadedSession, LoadRefusal } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';

/** An answer of which everything that is shown was read from the log itself. */
export type VerifiedRuns = {
  /** All runs, best first. */
  readonly ranked: readonly RankedRun[];
  /** The run that is surely meant. */
  readonly strong: RankedRun | undefined;
  readonly sessions: ReadonlyMap<SessionId, LoadedSession>;
};

/** How many further sessions are asked for their marks when a closed run was among those shown; twice as many each time. */
const FURTHER_MARKS = 16;

/**
 * Ranks what the index knows, reads what would be shown, and ranks again with what was found, until nothing is shown
 * that was not read. A session that is damaged, or lacks something it needs to go on, drops out, and so does a run that
 * somebody has closed.
 */
export async function verifiedRuns(
  services: ReadServices,
  summaries: readonly SessionSummary[],
  { question, names }: { readonly question: ResumeQuestion; readonly names: WorkflowNames },
): Promise<VerifiedRuns> {
  const known = new Map(summaries.map((summary) => [summary.sessionId, summary]));
  const sessions = new Map<SessionId, LoadedSession>();
  for (let further = FURTHER_MARKS; ; further *= 2) {
    const ranked = rankRuns(known.values(), question, names);
    const rivals = likelyRuns(ranked, question);
    // A second contender decides as much as the first whether one is surely meant.
    const shown = [...ranked.slice(0, RESUME_CANDIDATES_MAX), ...rivals.slice(0, 2)];
    const unread = new Set(shown.map(({ session }) => session.sessionId).filter((id) => !sessions.has(id)));
    if (unread.size === 0) return { ranked, strong: rivals.length === 1 ? rivals[0] : undefined, sessions };
    let hasClosed = false;
    for (const sessionId of unread) {
      const verified = await verifySession(services, sessionId);
      if (verified.isErr()) known.delete(sessionId);
      else {
        const open = await offeredOf(services, verified.value.summary, question);
        hasClosed ||= open !== verified.value.summary;
        known.set(sessionId, open);
        sessions.set(sessionId, verified.value.session);
      }
    }
    // Where people close what they are done with there are many such runs; their marks are read faster than they are.
    const next = hasClosed ? [...ranked.slice(0, further), ...rivals.slice(0, further)] : [];
    for (const { session } of next) {
      const summary = known.get(session.sessionId);
      if (summary !== undefined) known.set(session.sessionId, await offeredOf(services, summary, question));
    }
  }
}

/** A summary without runs that somebody has closed. Whoever names a run gets it; so does who names a session that has no other. */
async function offeredOf(
  { marks }: Pick<ReadServices, 'marks'>,
  summary: SessionSummary,
  { sessionId, runId }: ResumeQuestion,
): Promise<SessionSummary> {
  const closed = await marks.closed(summary.sessionId);
  if (closed.isErr() || closed.value.size === 0 || runId !== undefined) return summary;
  const runs = summary.runs.filter((run) => !isClosed(closed.value, run));
  if (runs.length === summary.runs.length || (runs.length === 0 && sessionId !== undefined)) return summary;
  return { ...summary, runs };
}

type Verified = { readonly session: LoadedSession; readonly summary: SessionSummary };

/** Reads a session in full, and everything that going on with its runs needs. */
export async function verifySession(
  services: ReadServices,
  sessionId: SessionId,
): Promise<Result<Verified, LoadRefusal | OtherWorkflowStored>> {
  const session = await services.sessions.load(sessionId);
  if (session.isErr()) return err(session.error);
  const summary = await services.sessionIndex.summarise(session.value);
  if (summary.isErr()) return err(summary.error);
  for (const { workflowHash } of summary.value.runs) {
    const workflow = await services.pinnedWorkflows.get(workflowHash);
    if (workflow.isErr()) return err(workflow.error);
  }
  return ok({ session: session.value, summary: summary.value });
}
