import { ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { RESUME_CANDIDATES_MAX } from '../../core/log/budgets.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { isTrusted, type SessionOrigin } from '../../core/log/origin.ts';
import { likelyRuns, type RankedRun, rankRuns, type WorkflowNames } from '../../core/resume/rank-runs.ts';
import type { ResumeQuestion } from '../../core/resume/resume-question.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { OtherWorkflowStored } from '../ports/content-stores.ts';
import type { LoadedSession, LoadRefusal } from '../ports/session-store.ts';
import { findPinned } from '../run/run-place.ts';
import type { ReadServices } from '../services.ts';

/** Ranked runs. Every run that is shown was read from its log. */
export type VerifiedRuns = {
  /** All runs, best first; those of imported sessions that no person accepted come last. */
  readonly ranked: readonly RankedRun[];
  /** The one run that is clearly meant. */
  readonly strong: RankedRun | undefined;
  readonly sessions: ReadonlyMap<SessionId, LoadedSession>;
  /** Where sessions come from that were not started here. */
  readonly origins: ReadonlyMap<SessionId, SessionOrigin>;
  /** Sessions that dropped out because they are damaged. */
  readonly damaged: readonly SessionId[];
};

/** How many further sessions are checked for closed runs once one was found; doubled each time. */
const FURTHER_MARKS = 16;

/**
 * Ranks by the index, reads the runs that would be shown, and ranks again, until every shown run was read. Damaged or
 * incomplete sessions drop out, and so do closed runs.
 */
export async function verifiedRuns(
  services: ReadServices,
  summaries: readonly SessionSummary[],
  { question, names }: { readonly question: ResumeQuestion; readonly names: WorkflowNames },
): Promise<VerifiedRuns> {
  const known = new Map(summaries.map((summary) => [summary.sessionId, summary]));
  const sessions = new Map<SessionId, LoadedSession>();
  const origins = new Map<SessionId, SessionOrigin>();
  const damaged: SessionId[] = [];
  for (let further = FURTHER_MARKS; ; further *= 2) {
    const all = rankRuns(known.values(), question, names);
    const isOwn = ({ session }: RankedRun) => isTrusted(origins.get(session.sessionId));
    const trusted = all.filter(isOwn);
    const ranked = [...trusted, ...all.filter((one) => !isOwn(one))];
    // An imported run is never clearly meant before a person accepted it.
    const rivals = likelyRuns(trusted, question);
    // A second contender matters as much as the first for whether one is clearly meant.
    const shown = [...ranked.slice(0, RESUME_CANDIDATES_MAX), ...rivals.slice(0, 2)];
    const unread = new Set(shown.map(({ session }) => session.sessionId).filter((id) => !sessions.has(id)));
    if (unread.size === 0)
      return { ranked, strong: rivals.length === 1 ? rivals[0] : undefined, sessions, origins, damaged };
    let hasClosed = false;
    for (const sessionId of unread) {
      const verified = await verifySession(services, sessionId);
      if (verified.isErr()) {
        known.delete(sessionId);
        if (isDamage(verified.error)) damaged.push(sessionId);
      } else {
        const open = await offeredOf(services, verified.value.summary, question);
        hasClosed ||= open !== verified.value.summary;
        known.set(sessionId, open);
        sessions.set(sessionId, verified.value.session);
        const origin = await services.marks.origin(sessionId);
        if (origin !== undefined) origins.set(sessionId, origin);
      }
    }
    // Users who close runs have many closed ones, and marks are faster to read than sessions.
    const next = hasClosed ? [...ranked.slice(0, further), ...rivals.slice(0, further)] : [];
    for (const { session } of next) {
      const summary = known.get(session.sessionId);
      if (summary !== undefined) known.set(session.sessionId, await offeredOf(services, summary, question));
    }
  }
}

/**
 * A summary without closed runs. A run that is named is kept, and so are the runs of a named session that has no open
 * one.
 */
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

/** A session that is just being created, or that a newer program wrote, is not damaged. */
export function isDamage({ code }: LoadRefusal | OtherWorkflowStored): boolean {
  return code === 'damaged' || code === 'other_workflow_stored';
}

type Verified = { readonly session: LoadedSession; readonly summary: SessionSummary };

/** Reads a session in full, and everything that continuing its runs needs. */
export async function verifySession(
  services: ReadServices,
  sessionId: SessionId,
): Promise<Result<Verified, LoadRefusal | OtherWorkflowStored>> {
  return safeTry(async function* (): Flow<Verified, LoadRefusal | OtherWorkflowStored> {
    const session = yield* await services.sessions.load(sessionId);
    const summary = yield* await services.sessionIndex.summarise(session);
    for (const run of summary.runs) yield* await findPinned(services, session, run);
    return ok({ session, summary });
  });
}
