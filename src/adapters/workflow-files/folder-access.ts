import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';

/** What stands at a path; a link is not followed. */
export type Look = {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
  readonly modifiedMs: number;
};

export type AccessFailure = { readonly code: 'absent' } | { readonly code: 'io_failed'; readonly cause: string };

/** The few ways in which folders of workflow files are looked at. */
export type FolderAccess = {
  /** Names in a folder, sorted. */
  list(path: string): Result<readonly string[], AccessFailure>;
  look(path: string): Result<Look, AccessFailure>;
  /** The path without any link in it. */
  resolve(path: string): Result<string, AccessFailure>;
  read(path: string): Result<Uint8Array, AccessFailure>;
};

/** Synchronous: a thousand awaits cost more than a thousand small calls. */
export const nodeFolderAccess: FolderAccess = {
  list: (path) => attempt(() => readdirSync(path).sort()),
  look: (path) => attempt(() => lookOf(lstatSync(path))),
  resolve: (path) => attempt(() => realpathSync(path)),
  read: (path) => attempt(() => readFileSync(path)),
};

function lookOf(stats: Stats): Look {
  const kind = stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
  return { kind, size: stats.size, modifiedMs: stats.mtimeMs };
}

function attempt<Value>(access: () => Value): Result<Value, AccessFailure> {
  try {
    return ok(access());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return err({ code: 'absent' });
    if (typeof code === 'string') return err({ code: 'io_failed', cause: code });
    throw error;
  }
}
