import { textTokens } from '../text/search-words.ts';

/** What somebody knows who looks for a run, as it was said. */
export type ResumeClues = {
  readonly query?: string | undefined;
  readonly gitBranch?: string | undefined;
  readonly gitHeadSha?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
};

/** The same, in the form in which runs are compared with it. */
export type ResumeQuestion = {
  readonly sessionId: string | undefined;
  readonly runId: string | undefined;
  readonly headSha: string | undefined;
  readonly branch: string | undefined;
  /** The words that must all occur; none where nothing was asked that could be searched for. */
  readonly words: readonly string[];
  /** The ways in which the workspace may be written down; none where it is not known. */
  readonly workspaces: readonly string[];
  /** Whether nothing was said but where the work takes place. */
  readonly isOfWorkspaceOnly: boolean;
};

export function resumeQuestion(clues: ResumeClues, seen: WorkspaceSeen): ResumeQuestion {
  const said = Object.fromEntries(Object.entries(clues).map(([name, text]) => [name, text?.trim() || undefined]));
  const { query, gitBranch, gitHeadSha, sessionId, runId } = said as ResumeClues;
  const isOfWorkspaceOnly = Object.values(said).every((text) => text === undefined);
  return {
    sessionId,
    runId,
    headSha: storedSha(gitHeadSha ?? (isOfWorkspaceOnly ? seen.headSha : undefined)),
    branch: gitBranch?.replace(/^refs\/heads\//, '') ?? (isOfWorkspaceOnly ? seen.branch : undefined),
    words: textTokens(query ?? ''),
    workspaces: [...new Set(seen.workspaces.map(bareFolder))],
    isOfWorkspaceOnly,
  };
}

/**
 * What the workspace itself tells. Its branch and commit count only where nothing else was said: whoever asks for
 * something in particular does not mean whatever was begun at the current commit.
 */
export type WorkspaceSeen = {
  readonly workspaces: readonly string[];
  readonly branch?: string | undefined;
  readonly headSha?: string | undefined;
};

/** A folder without slashes at its end, with which it is the same. */
export function bareFolder(path: string): string {
  return path.replace(/(?<=.)[\\/]+$/, '');
}

/** A commit as it is written down: the longer kind is named by its algorithm. */
function storedSha(sha: string | undefined): string | undefined {
  const plain = sha?.toLowerCase();
  return plain !== undefined && /^[0-9a-f]{64}$/.test(plain) ? `sha256:${plain}` : plain;
}
