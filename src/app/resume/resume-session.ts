import { err, ok, Result } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import { RESUME_CANDIDATES_MAX } from '../../core/log/budgets.ts';
import type { By } from '../../core/log/events/event-envelope.ts';
import { SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { isMatch, type MatchReason } from '../../core/resume/rank-runs.ts';
import { type ResumeClues, type ResumeQuestion, resumeQuestion } from '../../core/resume/resume-question.ts';
import { candidateList, type Search } from '../../core/resume/resume-replies.ts';
import type { SessionRow } from '../../core/sessions/board-rows.ts';
import { UNREADABLE_MARKS } from '../../core/sessions/session-state.ts';
import type { OtherWorkflowStored } from '../ports/content-stores.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { WorkspaceObserver } from '../ports/workspace-observer.ts';
import type { RehydrateRefusal } from '../run/rehydrate.ts';
import type { ReadServices } from '../services.ts';
import { sessionBoard } from '../sessions/session-board.ts';
import { type CandidateReader, readWithSnippet, type UnreadableRun } from './read-candidate.ts';
import { resumeRun } from './resume-run.ts';
import { isUnreadable, type OfferedSession, type VerifiedRuns, verifiedRuns, verifySession } from './verified-runs.ts';

export type ResumeRequest = ResumeClues & { readonly workspace?: string | undefined };

export type ResumeRefusal =
  /** There is no session or run of the given id. */
  | {
      readonly code: 'session_not_found';
      readonly named: string;
      /** Stored sessions that cannot be read, so the run may be in one of them. */
      readonly unreadable?: readonly SessionId[];
    }
  /** Tokens need keys, and a read-only use case cannot create them. */
  | { readonly code: 'keys_missing' }
  | RehydrateRefusal;

/** Read-only: nothing in it can append. */
export type ResumeServices = ReadServices & { readonly workspace: WorkspaceObserver; readonly by?: By | undefined };

/** Resumes without a token: rehydrates the one run that matches, or lists those that may. */
export async function resumeSession(
  services: ResumeServices,
  request: ResumeRequest,
): Promise<Result<GivenReply, ResumeRefusal>> {
  const [question, keyring] = await Promise.all([asked(services, request), services.keyring.find()]);
  if (keyring.isErr()) return err(keyring.error);
  const { named } = question;
  const looked = await lookedAt(services, question);
  if (looked.isErr()) return err(looked.error);
  const unshown: SessionId[] = [];
  for (let { offered } = looked.value; ; ) {
    const found = await verifiedRuns(services, offered, question);
    const isMissing = found.ranked.length === 0;
    const damaged =
      named === undefined || isMissing
        ? await damagedSessions(services, looked.value.unreadable, [...found.unreadable, ...unshown])
        : [];
    if (isMissing) {
      const unreadable = damaged.length === 0 ? undefined : damaged;
      if (named !== undefined) return err({ code: 'session_not_found', named, ...defined({ unreadable }) });
      return ok(candidateList([], { total: 0, isMatched: false, damaged }));
    }
    if (keyring.value === undefined) return err({ code: 'keys_missing' });
    const mint = { keyring: keyring.value, hmac: services.hasher.hmacSha256, form: services.tokenForm };
    const reader = { services, sessions: found.sessions, origins: found.origins, mint };
    const { strong } = found;
    const reply =
      strong === undefined
        ? await offer(reader, found, searched(request, question, { found, damaged }))
        : await resumeRun(reader, found, { strong, workspace: request.workspace, damaged });
    if (reply.isOk()) return ok(reply.value);
    const { sessionId: bad, cause } = reply.error;
    if (named !== undefined) return err(cause);
    // A run that cannot be shown is treated as unreadable.
    unshown.push(bad);
    offered = offered.filter(({ summary }) => summary?.sessionId !== bad);
  }
}

/** Git is asked only if there is no other clue: it takes longer than all the rest. */
async function asked({ workspace, by }: ResumeServices, request: ResumeRequest): Promise<ResumeQuestion> {
  const { workspace: path, ...clues } = request;
  const known = { workspaces: path === undefined ? [] : [path], principal: by?.principal };
  const question = resumeQuestion(clues, known);
  if (question.sessionId !== undefined || question.runId !== undefined) return question;
  const seen = new Map((await workspace.observe(path)).map(({ key, value }) => [key, value.value]));
  const places = [seen.get('repo_root'), seen.get('repo_remote'), path];
  return resumeQuestion(clues, {
    ...known,
    workspaces: places.filter((place) => place !== undefined),
    branch: seen.get('git_branch'),
    headSha: seen.get('git_head_sha'),
  });
}

/** Everything that may be meant, and the sessions that cannot be read. */
type LookedAt = { readonly offered: readonly OfferedSession[]; readonly unreadable: readonly SessionId[] };

/** A named session is read directly, and its damage is reported. */
async function lookedAt(services: ReadServices, question: ResumeQuestion): Promise<Result<LookedAt, ResumeRefusal>> {
  const { sessionId } = question;
  if (sessionId === undefined) {
    const found = await services.sessionIndex.find?.(question);
    return (found ?? (await sessionBoard(services)).map(({ rows }) => rows)).map(offeredOf);
  }
  const named = SessionId.schema.safeParse(sessionId).data;
  if (named === undefined) return ok(NOTHING_FOUND);
  const verified = await verifySession(services, named);
  if (verified.isErr())
    return verified.error.code === 'session_not_found' ? ok(NOTHING_FOUND) : err(failureOf(verified.error));
  const marks = (await services.marks.of(named)).unwrapOr(UNREADABLE_MARKS);
  return ok({ offered: [{ summary: verified.value.summary, marks }], unreadable: [] });
}

const NOTHING_FOUND: LookedAt = { offered: [], unreadable: [] };

function offeredOf(rows: readonly SessionRow[]): LookedAt {
  const unreadable = rows.filter(({ health }) => health?.kind !== 'healthy').map(({ sessionId }) => sessionId);
  if (unreadable.length === 0) return { offered: rows, unreadable };
  return { offered: rows.filter(({ health }) => health?.kind === 'healthy'), unreadable: unreadable.sort() };
}

function failureOf(failure: OtherWorkflowStored | StoreFailure): StoreFailure {
  if (failure.code !== 'other_workflow_stored') return failure;
  const { place } = failure;
  return { code: 'io_failed', operation: 'read workflow', place, cause: 'another workflow is stored in its place' };
}

function searched(
  request: ResumeRequest,
  question: ResumeQuestion,
  { found, damaged }: { readonly found: VerifiedRuns; readonly damaged: readonly SessionId[] },
): Search {
  const [first] = found.ranked;
  const isMatched = first !== undefined && isMatch(first, question);
  const { query = '' } = request;
  const isUnsearchable = query.trim() !== '' && question.words.length === 0;
  const missed = isUnsearchable ? query : missedQuery(request, question, found);
  return { total: found.ranked.length, isMatched, missed, isUnsearchable, damaged };
}

/** How many sessions that the index could not read are looked at; the command shows the rest. */
const DAMAGED_MAX = 20;

/** Sessions that the index left out because it could not read them, and those that could not be read in this call. */
async function damagedSessions(
  services: ReadServices,
  unreadable: readonly SessionId[],
  found: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const damaged = [...found];
  for (const sessionId of unreadable.slice(0, DAMAGED_MAX)) {
    const verified = await verifySession(services, sessionId);
    if (verified.isErr() && isUnreadable(verified.error)) damaged.push(sessionId);
  }
  return [...new Set(damaged)].sort();
}

/** The query, if no run matches it. */
function missedQuery(
  { query }: ResumeRequest,
  { words }: ResumeQuestion,
  { ranked }: VerifiedRuns,
): string | undefined {
  const isFound = ranked.some(({ whyMatched }) => whyMatched.some((reason) => BY_QUERY.includes(reason)));
  return words.length === 0 || isFound ? undefined : query;
}

const BY_QUERY: readonly MatchReason[] = ['matched_session_id', 'matched_notes', 'matched_workflow_id'];

async function offer(
  reader: CandidateReader,
  { ranked }: VerifiedRuns,
  search: Search,
): Promise<Result<GivenReply, UnreadableRun>> {
  const shown = await Promise.all(ranked.slice(0, RESUME_CANDIDATES_MAX).map((one) => readWithSnippet(reader, one)));
  return Result.combine(shown).map((candidates) => candidateList(candidates, search));
}
