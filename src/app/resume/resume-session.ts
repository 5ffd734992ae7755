import { err, ok, Result } from 'neverthrow';
import type { JsonObject } from '../../core/json/json-value.ts';
import { utf8Length } from '../../core/json/utf8.ts';
import { RESUME_CANDIDATES_MAX, RESUME_RECAP_BYTES_MIN, RESUME_REPLY_BYTES_MAX } from '../../core/log/budgets.ts';
import { SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { canonicalLength } from '../../core/log/text.ts';
import type { RecapLine } from '../../core/prompt/reply-parts.ts';
import { candidateList } from '../../core/resume/candidate-list.ts';
import type { MatchReason } from '../../core/resume/match-reason.ts';
import type { RankedRun } from '../../core/resume/rank-runs.ts';
import { type ResumeClues, type ResumeQuestion, resumeQuestion } from '../../core/resume/resume-question.ts';
import { resumedReply } from '../../core/resume/resumed-reply.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { OtherWorkflowStored } from '../ports/pinned-workflows.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { WorkspaceObserver } from '../ports/workspace-observer.ts';
import { type RehydrateRefusal, rehydrateNode } from '../rehydrate.ts';
import type { ReadServices } from '../services.ts';
import { type CandidateReader, readCandidate, readWithSnippet, sessionOf, tipOf } from './read-candidate.ts';
import { type VerifiedRuns, verifiedRuns, verifySession } from './verified-runs.ts';
import { workflowNames } from './workflow-names.ts';

export type ResumeRequest = ResumeClues & { readonly workspace?: string | undefined };

export type ResumeRefusal =
  /** Nothing is stored under the id that was named. */
  | { readonly code: 'session_not_found'; readonly named: string }
  /** Without keys no token can be made, and making them is not for somebody who only looks. */
  | { readonly code: 'keys_missing' }
  | RehydrateRefusal;

/** What it takes to look: nothing in it can append. */
export type ResumeServices = ReadServices & { readonly workspace: WorkspaceObserver };

/** Brings somebody back who has no token: to the run that is surely meant, or to a choice of those that may be. */
export async function resumeSession(
  services: ResumeServices,
  request: ResumeRequest,
): Promise<Result<GivenReply, ResumeRefusal>> {
  const [question, keyring] = await Promise.all([asked(services, request), services.keyring.find()]);
  if (keyring.isErr()) return err(keyring.error);
  const found = await findRuns(services, question);
  if (found.isErr()) return err(found.error);
  const named = question.runId ?? question.sessionId;
  if (found.value.ranked.length === 0) {
    return named === undefined ? ok(candidateList([], { total: 0 })) : err({ code: 'session_not_found', named });
  }
  if (keyring.value === undefined) return err({ code: 'keys_missing' });
  const mint = { keyring: keyring.value, hmac: services.hasher.hmacSha256, form: services.tokenForm };
  const reader = { services, sessions: found.value.sessions, mint };
  const { strong } = found.value;
  return strong === undefined
    ? offer(reader, found.value, missedQuery(request, question, found.value))
    : bringBack(reader, found.value, { strong, workspace: request.workspace });
}

/** Git is asked only where there is nothing else to go by: it takes longer than all the rest. */
async function asked({ workspace }: ResumeServices, request: ResumeRequest): Promise<ResumeQuestion> {
  const { workspace: path, ...clues } = request;
  const known = { workspaces: path === undefined ? [] : [path] };
  const question = resumeQuestion(clues, known);
  if (path === undefined || question.sessionId !== undefined || question.runId !== undefined) return question;
  const seen = new Map((await workspace.observe(path)).map(({ key, value }) => [key, value.value]));
  const root = seen.get('repo_root');
  return resumeQuestion(clues, {
    workspaces: root === undefined ? [path] : [root, path],
    branch: seen.get('git_branch'),
    headSha: seen.get('git_head_sha'),
  });
}

async function findRuns(
  services: ReadServices,
  question: ResumeQuestion,
): Promise<Result<VerifiedRuns, ResumeRefusal>> {
  const summaries = await lookedAt(services, question);
  if (summaries.isErr()) return err(summaries.error);
  const names = await workflowNames(services.pinnedWorkflows, question.words.length === 0 ? [] : summaries.value);
  return ok(await verifiedRuns(services, summaries.value, { question, names }));
}

/** A session that is named is read at once, and what is wrong with it is said. */
async function lookedAt(
  services: ReadServices,
  { sessionId }: ResumeQuestion,
): Promise<Result<readonly SessionSummary[], ResumeRefusal>> {
  if (sessionId === undefined) return services.sessionIndex.summaries();
  const named = SessionId.schema.safeParse(sessionId).data;
  if (named === undefined) return ok([]);
  const verified = await verifySession(services, named);
  if (verified.isOk()) return ok([verified.value.summary]);
  return verified.error.code === 'session_not_found' ? ok([]) : err(failureOf(verified.error));
}

function failureOf(failure: OtherWorkflowStored | StoreFailure): StoreFailure {
  if (failure.code !== 'other_workflow_stored') return failure;
  const { place } = failure;
  return { code: 'io_failed', operation: 'read workflow', place, cause: 'another workflow is stored in its place' };
}

/** The words that were asked for, where no run has them. */
function missedQuery(
  { query }: ResumeRequest,
  { words }: ResumeQuestion,
  { ranked }: VerifiedRuns,
): string | undefined {
  const isFound = ranked.some(({ whyMatched }) => whyMatched.some((reason) => BY_QUERY.includes(reason)));
  return words.length === 0 || isFound ? undefined : query;
}

const BY_QUERY: readonly MatchReason[] = ['matched_notes', 'matched_workflow_id'];

async function offer(
  reader: CandidateReader,
  { ranked }: VerifiedRuns,
  missed: string | undefined,
): Promise<Result<GivenReply, ResumeRefusal>> {
  const shown = await Promise.all(ranked.slice(0, RESUME_CANDIDATES_MAX).map((one) => readWithSnippet(reader, one)));
  return Result.combine(shown).map((candidates) => candidateList(candidates, { total: ranked.length, missed }));
}

async function bringBack(
  reader: CandidateReader,
  { ranked }: VerifiedRuns,
  { strong, workspace }: { readonly strong: RankedRun; readonly workspace: string | undefined },
): Promise<Result<GivenReply, ResumeRefusal>> {
  const others = ranked.slice(0, RESUME_CANDIDATES_MAX).filter((one) => one !== strong);
  const beside = others.slice(0, RESUME_CANDIDATES_MAX - 1);
  const lines = Result.combine(await Promise.all(beside.map((one) => readCandidate(reader, one))));
  if (lines.isErr()) return err(lines.error);
  const { services, mint } = reader;
  const shown = { session: sessionOf(reader.sessions, strong), target: tipOf(strong), mint, workspace };
  const resumed = { whyMatched: strong.whyMatched, others: lines.value };
  const whole = (await rehydrateNode(services, shown)).map((reply) => resumedReply(reply, resumed));
  const recapBytesMax = whole.isErr() ? undefined : shorterRecap(whole.value);
  if (recapBytesMax === undefined) return whole;
  const shorter = await rehydrateNode(services, { ...shown, recapBytesMax });
  return shorter.map((reply) => resumedReply(reply, resumed));
}

/** Room for the words that say that something was left out. */
const LEFT_OUT_BYTES = 256;

/**
 * How much of the recap fits into the budget of a reply; `undefined` where all of it does. Of all that is told only the
 * recap may be shorter: the rest is the author's, or how to go on.
 */
function shorterRecap(reply: GivenReply): number | undefined {
  const excess = replyBytes(reply) - RESUME_REPLY_BYTES_MAX;
  if (excess <= 0) return undefined;
  const { recap } = reply.structured as { readonly recap?: JsonObject & { readonly entries: readonly RecapLine[] } };
  const bytes = (recap?.entries ?? []).reduce((sum, { text }) => sum + utf8Length(text), 0);
  if (recap === undefined || bytes <= RESUME_RECAP_BYTES_MIN) return undefined;
  const told = canonicalLength(recap);
  const kept = Math.floor((bytes * (told - excess - LEFT_OUT_BYTES)) / told);
  return Math.max(kept, RESUME_RECAP_BYTES_MIN);
}

/** An agent sees the text or the data, so the longer one counts. */
function replyBytes({ text, furtherTexts = [], structured }: GivenReply): number {
  const told = [text, ...furtherTexts].reduce((bytes, one) => bytes + utf8Length(one), 0);
  return Math.max(told, canonicalLength(structured));
}
