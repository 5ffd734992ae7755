import type { Result } from 'neverthrow';
import type { GitSource, WorkflowSourceEntry } from '../../../core/sources.ts';

export type SourceListFailure =
  | { readonly code: 'source_list_broken'; readonly file: string; readonly cause: string }
  | { readonly code: 'source_list_unwritable'; readonly file: string; readonly cause: string };

/** The list of sources that the user added. */
export type SourceList = {
  read(): Promise<Result<readonly WorkflowSourceEntry[], SourceListFailure>>;
  /** Replaces it in one move: another process sees the old list or the new one. */
  write(entries: readonly WorkflowSourceEntry[]): Promise<Result<void, SourceListFailure>>;
};

export type GitRefusal =
  | { readonly code: 'git_missing' }
  | { readonly code: 'git_failed'; readonly url: string; readonly said: string }
  | { readonly code: 'git_timeout'; readonly url: string; readonly ms: number }
  /** What was pinned is no longer part of the branch: somebody rewrote it. */
  | {
      readonly code: 'git_rewritten';
      readonly name: string;
      readonly url: string;
      readonly from: string;
      readonly to: string;
    };

/** Copies of repositories, each at one commit. */
export type GitCopies = {
  /** Fetches a branch, a tag, or what the repository shows by default, and keeps the commit it stands for now. */
  fetch(wanted: Pick<GitSource, 'name' | 'url' | 'ref'>): Promise<Result<{ readonly commit: string }, GitRefusal>>;
  /** The same for a source that is there. A commit that does not follow the pinned one is refused unless forced. */
  update(
    source: GitSource,
    options: { readonly isForced: boolean },
  ): Promise<Result<{ readonly commit: string }, GitRefusal>>;
  /** Takes the copies of a source away, but for the one to be kept. */
  drop(source: Pick<GitSource, 'name'>, kept?: string): Promise<void>;
};

/** How a source stands on this machine. */
export type SourceHealth =
  | { readonly kind: 'ready'; readonly files: number; readonly dir: string }
  | { readonly kind: 'missing'; readonly dir: string }
  /** Its folder is a link to a place that is not part of it. */
  | { readonly kind: 'outside'; readonly dir: string; readonly target: string }
  | { readonly kind: 'not_installed'; readonly package: string; readonly from: string }
  | { readonly kind: 'undeclared'; readonly package: string; readonly dir: string };

export type SourceInspector = { inspect(source: WorkflowSourceEntry): Promise<SourceHealth> };

/** What looking after sources needs. */
export type SourceServices = {
  readonly list: SourceList;
  readonly copies: GitCopies;
  readonly inspector: SourceInspector;
  /** The absolute path of what somebody typed, from where they typed it. */
  readonly resolvePath: (path: string) => string;
};
