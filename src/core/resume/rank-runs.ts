import type { RunId, SessionId, WorkflowHash } from '../log/ids.ts';
import type { RunSummary, SessionSummary } from '../sessions/session-summary.ts';
import { hasWordCode, textTokens, wordCode } from '../text/search-words.ts';
import { andList } from '../text/words.ts';
import { SESSION_NOTES } from '../workflow/builtins/builtin-workflows.ts';
import { bareFolder, isTagged, type ResumeQuestion } from './resume-question.ts';

/** A run and how well it matches. Tier 0 is the run that was named; 1 to 5 are commit, branch, notes, workflow, recency. */
export type RankedRun = {
  readonly session: SessionSummary;
  readonly run: RunSummary;
  readonly tier: number;
  readonly isSameWorkspace: boolean;
  /** Whether it was recorded in another workspace than the caller's; then only its goal, place and age are shown. */
  readonly isForeign: boolean;
  /** Whether somebody else started it. */
  readonly isOthers: boolean;
  readonly whyMatched: readonly MatchReason[];
};

/**
 * The words of a run's goal and notes, if its session was read; the summary only has codes of them. An imported copy of a
 * session keeps the ids of its runs.
 */
export type WordsOf = (sessionId: SessionId, runId: RunId) => readonly string[] | undefined;

/**
 * Every run, best match first: strict tiers, no scores. Each run is represented by its preferred tip. A caller who names
 * a session or a run gets nothing else.
 */
export function rankRuns(
  summaries: Iterable<SessionSummary>,
  question: ResumeQuestion,
  wordsOf: WordsOf = () => undefined,
): readonly RankedRun[] {
  const matching = { question, wordsOf, codes: question.words.map(wordCode), isOfWorkflow: workflowMatcher(question) };
  const ranked: RankedRun[] = [];
  for (const session of summaries) {
    if (question.sessionId !== undefined && session.sessionId !== question.sessionId) continue;
    for (const run of session.runs) {
      if (question.runId !== undefined && run.runId !== question.runId) continue;
      if (question.tags.length > 0 && !isTagged(question, run)) continue;
      if (!question.areFinishedMeant && isFinished(run) && !isTagged(question, run)) continue;
      ranked.push(rankOf(session, run, matching));
    }
  }
  return inOrder(ranked);
}

/**
 * Sorts ranked runs. What is known of sessions comes latest first, so within a group most are in order already, and a
 * comparison each shows it.
 */
function inOrder(ranked: readonly RankedRun[]): RankedRun[] {
  const groups: RankedRun[][] = [];
  for (const one of ranked) {
    const at = groupOf(one);
    const group = groups[at];
    if (group === undefined) groups[at] = [one];
    else group.push(one);
  }
  return groups.flatMap((group) => group.sort(compareRecent));
}

/** Sorted runs with those of some sessions replaced. They are few, so nothing else is sorted again. */
export function replaceRuns(
  ranked: readonly RankedRun[],
  replaced: ReadonlySet<SessionId>,
  by: readonly RankedRun[],
): readonly RankedRun[] {
  const kept = ranked.filter(({ session }) => !replaced.has(session.sessionId));
  for (const one of by) {
    let [from, to] = [0, kept.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = kept[middle];
      if (other !== undefined && compareRanked(other, one) < 0) from = middle + 1;
      else to = middle;
    }
    kept.splice(from, 0, one);
  }
  return kept;
}

/** Tier first, then the caller's workspace, then own runs. */
function groupOf({ tier, isSameWorkspace, isOthers }: RankedRun): number {
  return tier * 4 + (isSameWorkspace ? 0 : 2) + (isOthers ? 1 : 0);
}

function compareRanked(a: RankedRun, b: RankedRun): number {
  return groupOf(a) - groupOf(b) || compareRecent(a, b);
}

/** A session that only keeps notes has no steps to finish. */
export function isFinished({ status, workflowId }: RunSummary): boolean {
  return (status === 'complete' || status === 'complete_with_gaps') && workflowId !== SESSION_NOTES.workflowId;
}

type Matching = {
  readonly question: ResumeQuestion;
  readonly wordsOf: WordsOf;
  /** The codes of the words that were asked for. */
  readonly codes: readonly string[];
  readonly isOfWorkflow: (run: RunSummary) => boolean;
};

function rankOf(session: SessionSummary, run: RunSummary, matching: Matching): RankedRun {
  const { repo_root, repo_remote } = session.observed;
  const { sessionId, runId, workspaces, principal } = matching.question;
  const isHere = (place: string | undefined) => place !== undefined && workspaces.includes(bareFolder(place));
  const isSameWorkspace = isHere(repo_root) || isHere(repo_remote);
  const isPlaced = repo_root !== undefined || repo_remote !== undefined;
  const found = matchesOf(session, run, matching);
  const [best = 'recency_fallback'] = found;
  const isNamed = sessionId !== undefined || runId !== undefined;
  return {
    session,
    run,
    tier: MATCH_REASONS.indexOf(best),
    isSameWorkspace,
    isForeign: !isNamed && workspaces.length > 0 && isPlaced && !isSameWorkspace,
    isOthers: principal !== undefined && run.owner !== undefined && run.owner !== principal,
    whyMatched: withWorkspace(found, isSameWorkspace),
  };
}

/** In the order of the tiers, starting with the match by id. */
function matchesOf(session: SessionSummary, run: RunSummary, matching: Matching): readonly MatchReason[] {
  const { git_head_sha, git_branch } = session.observed;
  const { sessionId, runId, headSha, branch, words } = matching.question;
  const found: MatchReason[] = [];
  if (sessionId !== undefined || runId !== undefined || isTagged(matching.question, run))
    found.push('matched_session_id');
  if (headSha !== undefined && git_head_sha === headSha) found.push('matched_head_sha');
  if (branch !== undefined && git_branch?.startsWith(branch) === true) found.push('matched_branch');
  if (words.length > 0 && isAbout(session, run, matching)) found.push('matched_notes');
  if (words.length > 0 && matching.isOfWorkflow(run)) found.push('matched_workflow_id');
  return found.length === 0 ? NOTHING_MATCHED : found;
}

const NOTHING_MATCHED: readonly MatchReason[] = [];
const ONLY_RECENT: readonly MatchReason[] = ['recency_fallback'];
const RECENT_HERE: readonly MatchReason[] = ['recency_fallback', 'matched_workspace'];

/** Most runs match nothing. */
function withWorkspace(found: readonly MatchReason[], isSameWorkspace: boolean): readonly MatchReason[] {
  if (found.length === 0) return isSameWorkspace ? RECENT_HERE : ONLY_RECENT;
  return isSameWorkspace ? [...found, 'matched_workspace'] : found;
}

/** Whether the goal and the notes have all words between them. */
function isAbout(
  { sessionId }: SessionSummary,
  { runId, wordCodes }: RunSummary,
  { question, codes, wordsOf }: Matching,
): boolean {
  if (!codes.every((code) => hasWordCode(wordCodes, code))) return false;
  const words = wordsOf(sessionId, runId);
  return words === undefined || question.words.every((word) => words.includes(word));
}

/** There are far fewer workflows than runs, so each is matched once. */
function workflowMatcher({ words }: ResumeQuestion): (run: RunSummary) => boolean {
  const known = new Map<WorkflowHash, boolean>();
  return ({ workflowId, workflowHash, workflowName = '' }) => {
    const before = known.get(workflowHash);
    if (before !== undefined) return before;
    const tokens = textTokens(`${workflowId}\n${workflowName}`);
    const isMatch = words.every((word) => tokens.includes(word));
    known.set(workflowHash, isMatch);
    return isMatch;
  };
}

/** Event indexes of different sessions cannot be compared, so time comes first; ids make the order total. */
function compareRecent(a: RankedRun, b: RankedRun): number {
  return (
    (b.session.lastAt ?? UNKNOWN) - (a.session.lastAt ?? UNKNOWN) ||
    b.run.lastActivityIndex - a.run.lastActivityIndex ||
    compareTexts(a.session.sessionId, b.session.sessionId) ||
    compareTexts(a.run.runId, b.run.runId)
  );
}

const UNKNOWN = -1;

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The last tier whose match identifies a run; later tiers only say that it exists. */
const TELLING_TIER_MAX = 3;

/**
 * The runs that may be meant, best first. A single run is a strong match: it was named, or it is the only unfinished run
 * of the best identifying tier, in the workspace where one is known. If a workspace has exactly one unfinished run, a
 * bare request resumes it. The run of somebody else is resumed only if it was named. A tag names a run only if no other
 * has it, and never one of another workspace or of somebody else.
 */
export function likelyRuns(ranked: readonly RankedRun[], question: ResumeQuestion): readonly RankedRun[] {
  const isOpen = ({ run }: RankedRun) => run.status === 'in_progress' || run.status === 'blocked';
  if (question.sessionId !== undefined || question.runId !== undefined) {
    return [ranked.find(isOpen) ?? ranked[0]].filter((one) => one !== undefined);
  }
  const [only, ...more] = question.tags.length > 0 || question.queryTag !== undefined ? taggedOf(ranked, question) : [];
  if (only !== undefined) return more.length > 0 || only.isOthers || only.isForeign ? [] : [only];
  const isPlaced = question.workspaces.length > 0;
  const isLikely = (one: RankedRun) => isOpen(one) && !one.isOthers && (!isPlaced || one.isSameWorkspace);
  const telling = bestOf(ranked).filter(isLikely);
  if (telling.length === 1) return telling;
  return question.isOfWorkspaceOnly && isPlaced ? ranked.filter(isLikely) : telling;
}

function taggedOf(ranked: readonly RankedRun[], question: ResumeQuestion): readonly RankedRun[] {
  return ranked.filter(({ run }) => isTagged(question, run));
}

/** The runs of the best tier, if that tier identifies runs. */
function bestOf(ranked: readonly RankedRun[]): readonly RankedRun[] {
  const { tier: best = Number.POSITIVE_INFINITY } = ranked[0] ?? {};
  if (best > TELLING_TIER_MAX) return [];
  const end = ranked.findIndex(({ tier }) => tier !== best);
  return end === -1 ? ranked : ranked.slice(0, end);
}

/** Why a run is offered, strongest reason first. */
export const MATCH_REASONS = [
  'matched_session_id',
  'matched_head_sha',
  'matched_branch',
  'matched_notes',
  'matched_workflow_id',
  'recency_fallback',
  'matched_workspace',
] as const;
export type MatchReason = (typeof MATCH_REASONS)[number];

/** The tier of runs that are only recent. */
export const UNMATCHED_TIER = MATCH_REASONS.indexOf('recency_fallback');

const ASKED = {
  matched_session_id: 'the id',
  matched_notes: 'your search words (in its goal or notes)',
  matched_workflow_id: 'your search words (in its workflow)',
};
const PLACES = { matched_head_sha: 'commit', matched_branch: 'Git branch', matched_workspace: 'workspace' };

/** Whether something that the caller said speaks for a run, or the workspace if the caller said nothing else. */
export function isMatch({ whyMatched }: Pick<RankedRun, 'whyMatched'>, question: ResumeQuestion): boolean {
  return whyMatched.some(
    (reason) => reason !== 'recency_fallback' && (reason !== 'matched_workspace' || question.isOfWorkspaceOnly),
  );
}

/** Why a run is offered. Nothing that was asked for speaks for a run that is only recent. */
export function matchWords(reasons: readonly MatchReason[]): string {
  if (reasons.includes('recency_fallback')) {
    return reasons.includes('matched_workspace') ? 'recent, in this workspace' : 'recent';
  }
  const named = (words: { readonly [reason in MatchReason]?: string }) => reasons.flatMap((one) => words[one] ?? []);
  const [same, asked] = [named(PLACES).reverse(), named(ASKED)];
  return [
    ...(asked.length === 0 ? [] : [`matches ${andList(asked)}`]),
    ...(same.length === 0 ? [] : [`has the same ${andList(same)}`]),
  ].join(' and ');
}
