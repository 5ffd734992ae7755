import { type RunId, readRunTag, runTag } from '../log/ids.ts';
import { textTokens } from '../text/search-words.ts';

/** What the caller knows about the run, as it was sent. */
export type ResumeClues = {
  readonly query?: string | undefined;
  readonly gitBranch?: string | undefined;
  readonly gitHeadSha?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
  readonly includeFinished?: boolean | undefined;
};

/** The same, in the form used for matching. */
export type ResumeQuestion = {
  /** The id of the session or run as it was sent, which may be a tag. */
  readonly named: string | undefined;
  readonly sessionId: string | undefined;
  readonly runId: string | undefined;
  /** Tags that were sent as ids; the run has all of them. A tag is a hint and never a key: two runs may have it. */
  readonly tags: readonly string[];
  /** The query, if it is nothing but a tag. It may be a word all the same. */
  readonly queryTag: string | undefined;
  readonly headSha: string | undefined;
  readonly branch: string | undefined;
  /** The words that must all occur; empty where the query has none. */
  readonly words: readonly string[];
  /** The spellings of the workspace path, and where its repository was cloned from; empty where it is not known. */
  readonly workspaces: readonly string[];
  /** Who is signed in. */
  readonly principal: string | undefined;
  /** Whether the caller named nothing but the workspace. */
  readonly isOfWorkspaceOnly: boolean;
  /** Whether finished runs may be meant; one that is named always is. */
  readonly areFinishedMeant: boolean;
};

export function resumeQuestion(
  { includeFinished = false, ...clues }: ResumeClues,
  seen: WorkspaceSeen,
): ResumeQuestion {
  const said = Object.fromEntries(Object.entries(clues).map(([name, text]) => [name, text?.trim() || undefined]));
  const { query, gitBranch, gitHeadSha, sessionId, runId } = said as Omit<ResumeClues, 'includeFinished'>;
  // Each of the two may be known, and the run not be in that session.
  const named =
    runId !== undefined && sessionId !== undefined ? `${runId} in session ${sessionId}` : (runId ?? sessionId);
  const isOfWorkspaceOnly = Object.values(said).every((text) => text === undefined);
  return {
    named,
    sessionId: isTag(sessionId) ? undefined : sessionId,
    runId: isTag(runId) ? undefined : runId,
    tags: [sessionId, runId].map(tagIn).filter((tag) => tag !== undefined),
    queryTag: named === undefined ? tagIn(query) : undefined,
    headSha: storedSha(gitHeadSha ?? (isOfWorkspaceOnly ? seen.headSha : undefined)),
    branch: gitBranch?.replace(/^refs\/heads\//, '') ?? (isOfWorkspaceOnly ? seen.branch : undefined),
    words: textTokens(query ?? ''),
    workspaces: [...new Set(seen.workspaces.map(bareFolder))],
    principal: seen.principal,
    isOfWorkspaceOnly,
    areFinishedMeant: includeFinished || named !== undefined,
  };
}

const tagIn = (text: string | undefined) => (text === undefined ? undefined : readRunTag(text));
const isTag = (text: string | undefined) => tagIn(text) !== undefined;

/** Whether the caller named the run by its tag. */
export function isTagged({ tags, queryTag }: ResumeQuestion, { runId }: { readonly runId: RunId }): boolean {
  if (tags.length > 0) return tags.every((tag) => tag === runTag(runId));
  return queryTag !== undefined && queryTag === runTag(runId);
}

/**
 * What is known from the workspace itself. Its branch and commit count only where the caller named nothing else: a
 * specific request does not mean whatever was started at the current commit.
 */
export type WorkspaceSeen = {
  readonly workspaces: readonly string[];
  readonly branch?: string | undefined;
  readonly headSha?: string | undefined;
  /** Who asks. */
  readonly principal?: string | undefined;
};

/** A folder path without trailing slashes. */
export function bareFolder(path: string): string {
  const last = path.at(-1);
  return last === '/' || last === '\\' ? path.replace(/(?<=.)[\\/]+$/, '') : path;
}

/** A commit as it is stored: a SHA-256 hash has a prefix. */
function storedSha(sha: string | undefined): string | undefined {
  const plain = sha?.toLowerCase();
  return plain !== undefined && /^[0-9a-f]{64}$/.test(plain) ? `sha256:${plain}` : plain;
}
