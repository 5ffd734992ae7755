import type { Result } from 'neverthrow';

export type FileFailure =
  | { readonly code: 'file_absent'; readonly path: string }
  | { readonly code: 'file_exists'; readonly path: string }
  | { readonly code: 'file_failed'; readonly path: string; readonly cause: string };

/** The files of an author on this machine. */
export type AuthorFiles = {
  /** The absolute path without links, as far as it exists. */
  resolve(path: string): string;
  kindOf(path: string): 'file' | 'folder' | 'nothing';
  /** Every `.json` file in a folder and the folders in it, sorted. */
  list(folder: string): readonly string[];
  read(path: string): Result<string, FileFailure>;
  /** Writes a file whole or not at all. One that shall be new is not written over. */
  write(path: string, text: string, options?: { readonly isNew: boolean }): Result<void, FileFailure>;
  remove(path: string): Result<void, FileFailure>;
  /** Resolves when a file in one of these folders changed after this was called. */
  changed(folders: readonly string[]): Promise<void>;
};
