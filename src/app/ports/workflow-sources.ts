import type { Result } from 'neverthrow';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import type { WorkspaceProblem } from '../../core/prompt/reply-warnings.ts';
import type { GitSource, WorkflowSourceEntry } from '../../core/sources.ts';

/** A file that an author left; `text` is what it says. */
export type SourceFile = {
  /** Names the file within its source; the same on every machine. */
  readonly ref: string;
  /** Where it lies on this machine: shown to people, never stored. */
  readonly path: string;
  readonly content: { readonly kind: 'text'; readonly text: string } | Unread;
};

/** A source that the user added, as they named it. */
export type AddedSource = {
  readonly name: string;
  readonly kind: 'git' | 'folder' | 'package';
  /** What a repository is pinned to. */
  readonly commit?: string;
};

/** A file that may hold a workflow. */
export type WorkflowFile = SourceFile & {
  /** Where it comes from, when that was added by name. */
  readonly added?: AddedSource;
  readonly kind: WorkflowSourceKind;
  /** Of two workflows with one id, the one in the folder of the higher rank is used. */
  readonly rank: number;
  /** Whether it lies in a folder for routines. */
  readonly isInRoutines: boolean;
};

/** A file that is there but was not read, and why. */
export type Unread = { readonly kind: 'unread'; readonly reason: UnreadReason };

export type UnreadReason =
  | { readonly code: 'too_large'; readonly bytes: number; readonly bytesMax: number }
  | { readonly code: 'leads_outside'; readonly target: string }
  | { readonly code: 'not_a_file' }
  | { readonly code: 'not_utf8' }
  | { readonly code: 'too_many_files'; readonly filesMax: number }
  | { readonly code: 'io_failed'; readonly cause: string };

export type SourceListing = {
  /** Lowest rank first, within a folder by name. */
  readonly files: readonly WorkflowFile[];
  /** What the workspace puts into extension points; not there when it puts in nothing. */
  readonly bindings?: SourceFile;
  /** Told when a workspace was given that cannot be one; the files are those that are there without it. */
  readonly workspaceProblem?: WorkspaceProblem;
};

/** Where workflow files come from. */
export type WorkflowSource = {
  /** Everything there is for a workspace. A file that did not change since the last call is the same object again. */
  files(workspace?: string): Promise<SourceListing>;
};

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
