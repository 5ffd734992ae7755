import type { WorkflowSourceKind } from '../../core/log/events/run-started.ts';
import type { WorkspaceProblem } from '../../core/prompt/workspace-problem.ts';

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
