import type { Result } from 'neverthrow';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import type { WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import type { AcceptedSource, GitSource, WorkflowSourceEntry } from '../../core/sources.ts';
import type { CompiledFile, FilePlace } from '../../core/workflow/compiled/compiled-file.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';

/** A file that an author wrote. */
export type SourceFile = {
  /** Names the file within its source; the same on every machine. */
  readonly ref: string;
  /** Where it is on this machine: shown to people, never stored. */
  readonly path: string;
  readonly content: { readonly kind: 'text'; readonly text: string } | Unread;
};

/** A source that the user added, under the user's name for it. */
export type AddedSource = {
  readonly name: string;
  readonly kind: 'git' | 'folder' | 'package';
  /** The commit that a repository is pinned to. */
  readonly commit?: string;
};

/** A file that may hold a workflow. */
export type WorkflowFile = SourceFile & {
  /** Set if the file comes from a source that the user added. */
  readonly added?: AddedSource;
  readonly kind: WorkflowSourceKind;
  /** Of two workflows with one id, the one in the folder of the higher rank is used. */
  readonly rank: number;
  readonly isInRoutines: boolean;
};

/** Stands for the content of a file that could not be read. */
export type Unread = { readonly kind: 'unread'; readonly reason: UnreadReason };

export type UnreadReason =
  | { readonly code: 'too_large'; readonly bytes: number; readonly bytesMax: number }
  | { readonly code: 'leads_outside'; readonly target: string }
  | { readonly code: 'not_a_file' }
  /** The file differs from the one that was fetched with a pinned source. */
  | { readonly code: 'copy_edited'; readonly source: string }
  | { readonly code: 'not_utf8' }
  /** The repository asks for this source, and nobody accepted it here. */
  | { readonly code: 'not_accepted'; readonly source: string; readonly url: string; readonly commit: string }
  | { readonly code: 'too_many_files'; readonly filesMax: number }
  | { readonly code: 'io_failed'; readonly cause: string };

export type SourceListing = {
  /** Lowest rank first, within a folder by name. */
  readonly files: readonly WorkflowFile[];
  /** The file that binds the workspace's texts to extension points, if there is one. */
  readonly bindings?: SourceFile;
  /** Set if the given workspace is unusable. The files are then those outside of it. */
  readonly workspaceProblem?: WorkspaceProblem;
};

/** Where workflow files come from. */
export type WorkflowSource = {
  /** Every file for a workspace. A file that did not change since the last call is the same object again. */
  files(workspace?: string): Promise<SourceListing>;
};

/** A compiled file with its workflow, which is read on first use. */
export type KeptFile = {
  readonly file: CompiledFile;
  /** The stored bytes of the workflow, and the workflow in them. */
  readonly read: () => { readonly bytes: Uint8Array; readonly workflow: CompiledWorkflow };
};

/** What compiling files gave, in this process or before it. Everything in it can be made again. */
export type CompiledFiles = {
  digest(text: string): string;
  find(digest: string, place: FilePlace): KeptFile | undefined;
  /** Keeps what compiling a file gave, later and if there is a place for it. */
  keep(make: () => { readonly file: CompiledFile; readonly bytes: Uint8Array } | undefined): void;
};

export type SourceListFailure =
  | { readonly code: 'source_list_broken'; readonly file: string; readonly cause: string }
  | { readonly code: 'source_list_unwritable'; readonly file: string; readonly cause: string };

/** The list of sources that the user added. */
export type SourceList = {
  read(): Promise<Result<readonly WorkflowSourceEntry[], SourceListFailure>>;
  /** Replaces the list at once: another process sees the old list or the new one. */
  write(entries: readonly WorkflowSourceEntry[]): Promise<Result<void, SourceListFailure>>;
};

export type GitRefusal =
  /** There is no place for the copy. */
  | Extract<SourceListFailure, { readonly code: 'source_list_unwritable' }>
  | { readonly code: 'git_missing' }
  | { readonly code: 'git_failed'; readonly url: string; readonly said: string }
  | { readonly code: 'git_timeout'; readonly url: string; readonly ms: number }
  /** The commit is not part of the branch. */
  | { readonly code: 'git_commit_missing'; readonly url: string; readonly commit: string }
  /** The pinned commit is no longer part of the branch: its history was rewritten. */
  | {
      readonly code: 'git_rewritten';
      readonly name: string;
      readonly url: string;
      readonly from: string;
      readonly to: string;
    };

/** Copies of repositories, each at one commit. */
export type GitCopies = {
  /** Fetches a branch, a tag or the default branch, and returns its current commit. */
  fetch(wanted: Pick<GitSource, 'name' | 'url' | 'ref'>): Promise<Result<FetchedCopy, GitRefusal>>;
  /** Fetches the commit of a source, unless there is a copy of it already. */
  fetchPinned(source: GitSource): Promise<Result<{ readonly commit: string }, GitRefusal>>;
  /** Fetches a known source again. A commit that does not descend from the pinned one is refused unless forced. */
  update(
    source: GitSource,
    options: { readonly isForced: boolean },
  ): Promise<Result<{ readonly commit: string }, GitRefusal>>;
  /** Removes the copies of a source, except for the commit to keep. */
  drop(source: Pick<GitSource, 'name'>, kept?: string): Promise<void>;
  /** Removes the copy of one commit. */
  discard(source: Pick<GitSource, 'name' | 'commit'>): Promise<void>;
  /** Whether a folder of this machine is a repository. */
  isRepository(path: string): boolean;
};

/** `isNew`: there was no copy of this commit before. */
export type FetchedCopy = { readonly commit: string; readonly isNew: boolean };

/** The folder of a source with its files, or why it cannot be read. */
export type ReadSource =
  | { readonly kind: 'ready'; readonly files: readonly WorkflowFile[]; readonly dir: string }
  | { readonly kind: 'missing'; readonly dir: string }
  /** The folder is a link to a place outside of the source. */
  | { readonly kind: 'outside'; readonly dir: string; readonly target: string }
  | { readonly kind: 'not_installed'; readonly package: string; readonly from: string }
  | { readonly kind: 'undeclared'; readonly package: string; readonly dir: string };

export type SourceInspector = { inspect(source: WorkflowSourceEntry): Promise<ReadSource> };

/** What managing the sources of a list needs. */
export type ListedSources = {
  readonly list: SourceList;
  readonly copies: GitCopies;
  readonly inspector: SourceInspector;
  /** The absolute form of a path that the user typed. */
  readonly resolvePath: (path: string) => string;
};

/** What managing sources needs: those of the user, and those that the repository in this folder asks for. */
export type SourceServices = ListedSources & { readonly project: ProjectSources };

/** The sources that a repository asks for in `.workrail/sources.json`. */
export type ProjectSources = ListedSources & {
  /** The file, and the folder that it is in. */
  readonly file: string;
  readonly workspace: string;
  /** What people accepted, for every folder. A file that cannot be read accepts nothing. */
  accepted(): Promise<readonly AcceptedSource[]>;
  accept(sources: readonly GitSource[]): Promise<Result<void, SourceListFailure>>;
};
