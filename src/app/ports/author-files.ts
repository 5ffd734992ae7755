import type { Result } from 'neverthrow';
import type { SourceFile } from './workflow-sources.ts';

export type FileFailure =
  | { readonly code: 'file_absent'; readonly path: string }
  | { readonly code: 'file_exists'; readonly path: string }
  | { readonly code: 'file_changed'; readonly path: string }
  | { readonly code: 'file_failed'; readonly path: string; readonly cause: string };

export type WriteOptions = { readonly isNew?: boolean; readonly replaces?: string };

/** The files of an author on this machine. */
export type AuthorFiles = {
  /** The absolute path with links resolved, if it exists. */
  resolve(path: string): string;
  kindOf(path: string): 'file' | 'folder' | 'nothing';
  /** Every `.json` file in a folder and its subfolders, sorted. */
  list(folder: string): readonly string[];
  /**
   * The content as the sources of workflows read it: UTF-8 without a byte order mark. A link must not lead out of the
   * folder, if one is given.
   */
  content(path: string, within?: string): SourceFile['content'];
  read(path: string): Result<string, FileFailure>;
  /**
   * Writes a whole file at once, with the byte order mark it had. A new file does not replace an existing one, and a
   * file that no longer holds the text that is to be replaced is left alone.
   */
  write(path: string, text: string, options?: WriteOptions): Result<void, FileFailure>;
  remove(path: string): Result<void, FileFailure>;
  /** Resolves at the next change of a file in one of these folders. */
  changed(folders: readonly string[]): Promise<void>;
};
