import { ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { RESUME_CANDIDATES_MAX } from '../../core/log/budgets.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { isTrusted, type SessionOrigin } from '../../core/log/origin.ts';
import { likelyRuns, type RankedRun, rankRuns, replaceRuns, UNMATCHED_TIER } from '../../core/resume/rank-runs.ts';
import { isTagged, type ResumeQuestion } from '../../core/resume/resume-question.ts';
import type { StoredSession } from '../../core/sessions/board-rows.ts';
import { UNREADABLE_MARKS } from '../../core/sessions/session-state.ts';
import { type RunSummary, type SessionSummary, searchedText } from '../../core/sessions/session-summary.ts';
import { textTokens } from '../../core/text/search-words.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { OtherWorkflowStored } from '../ports/content-stores.ts';
import type { LoadedSession, LoadRefusal } from '../ports/session-store.ts';
import { findPinned } from '../run/run-place.ts';
import type { ReadServices } from '../services.ts';

/** Ranked runs. Every run that is shown was read from its log. */
export type VerifiedRuns = {
  /** All runs, best first; those of imported sessions that no person accepted come after all that match as well. */
  readonly ranked: readonly RankedRun[];
  /** The one run that is clearly meant. */
  readonly strong: RankedRun | undefined;
  readonly sessions: ReadonlyMap<SessionId, LoadedSession>;
  /** Where sessions come from that were not started here. */
  readonly origins: ReadonlyMap<SessionId, SessionOrigin>;
  /** Sessions that dropped out because they cannot be read. */
  readonly unreadable: readonly SessionId[];
};

/** A session whose runs may be offered, and its marks. */
export type OfferedSession = Pick<StoredSession, 'marks' | 'summary'>;

/**
 * Ranks by the index, reads the runs that would be shown, and ranks these again, until every shown run was read. Damaged
 * or incomplete sessions drop out, and so do closed runs.
 */
export async function verifiedRuns(
  services: ReadServices,
  offered: readonly OfferedSession[],
  question: ResumeQuestion,
): Promise<VerifiedRuns> {
  const sessions = new Map<SessionId, LoadedSession>();
  const origins = originsOf(offered);
  const words = new Map<string, readonly string[]>();
  const unreadable: SessionId[] = [];
  const rank = (some: readonly OfferedSession[]) =>
    rankRuns(openParts(some, question), question, (sessionId, runId) => words.get(`${sessionId} ${runId}`));
  for (let all = rank(offered); ; ) {
    const { ranked, trusted } = ownFirst(all, origins, question);
    // An imported run is never clearly meant before a person accepted it.
    const rivals = likelyRuns(trusted, question);
    const unread = unreadOf({ ranked, rivals, question }, sessions);
    if (unread.size === 0)
      return { ranked, strong: rivals.length === 1 ? rivals[0] : undefined, sessions, origins, unreadable };
    const read: OfferedSession[] = [];
    for (const sessionId of unread) {
      const verified = await verifySession(services, sessionId);
      if (verified.isErr()) {
        if (isUnreadable(verified.error)) unreadable.push(sessionId);
        continue;
      }
      const { session, summary } = verified.value;
      const marks = (await services.marks.of(sessionId)).unwrapOr(UNREADABLE_MARKS);
      sessions.set(sessionId, session);
      if (marks.origin === undefined) origins.delete(sessionId);
      else origins.set(sessionId, marks.origin);
      if (question.words.length > 0) {
        for (const run of summary.runs) words.set(`${sessionId} ${run.runId}`, wordsOf(session, run));
      }
      read.push({ summary, marks });
    }
    all = replaceRuns(all, unread, rank(read));
  }
}

function originsOf(offered: readonly OfferedSession[]): Map<SessionId, SessionOrigin> {
  const origins = new Map<SessionId, SessionOrigin>();
  for (const { summary, marks } of offered) {
    if (summary !== undefined && marks.origin !== undefined) origins.set(summary.sessionId, marks.origin);
  }
  return origins;
}

type OwnFirst = { readonly ranked: readonly RankedRun[]; readonly trusted: readonly RankedRun[] };

/** Of the runs that a query does not match, none comes before one that it matches, even if that one is imported. */
function ownFirst(
  all: readonly RankedRun[],
  origins: ReadonlyMap<SessionId, SessionOrigin>,
  { words }: ResumeQuestion,
): OwnFirst {
  if (origins.size === 0) return { ranked: all, trusted: all };
  const isOwn = ({ session }: RankedRun) => isTrusted(origins.get(session.sessionId));
  const trusted = all.filter(isOwn);
  const others = all.filter((one) => !isOwn(one));
  if (words.length === 0 || others.length === 0) return { ranked: [...trusted, ...others], trusted };
  const isFound = ({ tier }: RankedRun) => tier < UNMATCHED_TIER;
  const [found, left] = [others.filter(isFound), others.filter((one) => !isFound(one))];
  const ranked = [...trusted.filter(isFound), ...found, ...trusted.filter((one) => !isFound(one)), ...left];
  return { ranked, trusted };
}

type Shown = {
  readonly ranked: readonly RankedRun[];
  readonly rivals: readonly RankedRun[];
  readonly question: ResumeQuestion;
};

/**
 * The sessions that must be read before an answer. A second contender matters as much as the first for whether one is
 * clearly meant, and the first that has the words for whether any has.
 */
function unreadOf({ ranked, rivals, question }: Shown, sessions: VerifiedRuns['sessions']): ReadonlySet<SessionId> {
  const hasWords = ({ whyMatched }: RankedRun) => whyMatched.includes('matched_notes');
  const withWords = question.words.length === 0 ? undefined : ranked.find(hasWords);
  const shown = [...ranked.slice(0, RESUME_CANDIDATES_MAX), ...rivals.slice(0, 2), ...(withWords ? [withWords] : [])];
  return new Set(shown.map(({ session }) => session.sessionId).filter((id) => !sessions.has(id)));
}

/** The words of the goal and the notes that search looks at. */
function wordsOf({ view }: LoadedSession, { goal = '', tip }: RunSummary): readonly string[] {
  return textTokens(`${goal}\n${searchedText(view, nodeOf(view.graph, tip))}`);
}

function openParts(some: readonly OfferedSession[], question: ResumeQuestion): readonly SessionSummary[] {
  const parts: SessionSummary[] = [];
  for (const one of some) {
    const summary = openPart(one, question);
    if (summary !== undefined) parts.push(summary);
  }
  return parts;
}

/**
 * A summary without closed runs. A run that is named, also by its tag, is kept, and so are the runs of a named session
 * that has no open one.
 */
function openPart({ summary, marks }: OfferedSession, question: ResumeQuestion): SessionSummary | undefined {
  const { sessionId, runId } = question;
  if (summary === undefined || marks.closed.size === 0 || runId !== undefined) return summary;
  const runs = summary.runs.filter((run) => !isClosed(marks.closed, run) || isTagged(question, run));
  if (runs.length === summary.runs.length || (runs.length === 0 && sessionId !== undefined)) return summary;
  return { ...summary, runs };
}

/**
 * Whether a session is there and cannot be read, for any reason. Without a report, a caller believes that it does not
 * exist. One that is just being created, or was just removed, is not there.
 */
export function isUnreadable({ code }: LoadRefusal | OtherWorkflowStored): boolean {
  return code !== 'session_not_found';
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
