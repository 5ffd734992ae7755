import type { Result } from 'neverthrow';
import type { ObservationData } from '../../core/log/events/run-events.ts';
import type { ShownReference } from '../../core/prompt/reply-parts.ts';
import type { BoundWorkspace, ChangedFile } from '../../core/run/gate-facts.ts';
import type { UnseenFiles } from '../../core/run/unseen-files.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';

/** Observes the workspace. */
export type WorkspaceObserver = {
  /** What is known about a workspace. Limited in time; what takes longer is left out. */
  observe(workspace: string | undefined): Promise<readonly ObservationData[]>;
  /** The real path of a folder, which is what is recorded of it; absent where the folders are on other machines. */
  folder?(workspace: string): string | undefined;
  /** The top of the repository that a folder is in now, whose files `tree` reads; absent like `folder`. */
  top?(folder: string): string | undefined;
  /** The identity in the git settings of a repository, as `NAME <ADDRESS>`. Nobody checks it. */
  author?(workspace: string | undefined): Promise<string | undefined>;
  /**
   * The files of a repository as one digest, or why git cannot list them; `undefined` outside of a repository. Where
   * the digest is compared with an earlier one, git gets longer: a busy machine must not read as changed files. Where
   * every byte counts, every file is read: git believes its index, its filters and the times of files.
   */
  tree(
    workspace: string | undefined,
    patience?: GitPatience,
    isEveryByteRead?: boolean,
  ): Promise<BoundWorkspace | undefined>;
  /** The workspaces are on other machines: what a block says about the files is all that is known here. */
  readonly isElsewhere?: true;
};

/** What one machine tells another about a workspace. */
export type WorkspaceFacts = {
  /** Where the repository was cloned from, as HOST/OWNER/NAME. */
  readonly remote?: string | undefined;
  readonly branch?: string | undefined;
  readonly head_sha?: string | undefined;
  /** The files as one digest, and what differs from the last commit. */
  readonly tree_digest?: string | undefined;
  readonly changed?: readonly ChangedFile[] | undefined;
  /** Why there is no digest, where one was asked for. */
  readonly files_unseen?: UnseenFiles | undefined;
};

/** A commit and its files. */
export type Commit = { readonly commit: string; readonly tree: string };

/** A name that is no commit, or more than one. */
export type UnclearCommit =
  | { readonly code: 'commit_unknown' }
  | { readonly code: 'commit_ambiguous'; readonly refs: readonly [string, ...string[]] };

/** Reads what is committed, never the work tree. */
export type CommitReader = {
  /** What a name stands for in the repository of a folder; `undefined` without a repository or such a commit. */
  commitAt(folder: string, ref: string): Promise<Commit | undefined>;
  /**
   * The commit that a decision may rest on: by its id, by a full name such as `refs/remotes/origin/main`, or by a short
   * name that stands for one commit only. git itself prefers a tag, which anybody who pushes can make.
   */
  commitNamed(folder: string, name: string): Promise<Result<Commit, UnclearCommit>>;
  /** A file of a commit; `undefined` if it has none. */
  fileAt(folder: string, ref: string, path: string): Promise<string | undefined>;
};

/** How long git may take. */
export type GitPatience = 'short' | 'long';

/** What the paths of references start from. */
export type ReferencePlaces = {
  readonly workspace: string | undefined;
  /** The workflow file. */
  readonly file: string;
};

/** Finds the documents that a workflow refers to. */
export type ReferenceFinder = {
  /** Every reference in its declared order, marked if no file exists. Reads no content. */
  find(references: CompiledWorkflow['references'], places: ReferencePlaces): Promise<readonly ShownReference[]>;
};
