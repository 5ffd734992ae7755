import { randomBytes } from 'node:crypto';
import {
  type FSWatcher,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AuthorFiles, FileFailure } from '../../app/ports/author-files.ts';
import type { FolderAccess } from './read-folder.ts';

const DEPTH_MAX = 8;
/** Editors write a file in several steps; changes within this time count as one. */
const SETTLE_MS = 60;

/** Files under paths that an author types, relative to a folder. */
export function nodeAuthorFiles(access: FolderAccess, cwd: string): AuthorFiles {
  const absolute = (path: string) => resolve(cwd, path);
  return {
    resolve: (path) => realPathOf(access, absolute(path)),
    kindOf: (path) => {
      const stats = attempt(path, () => statSync(absolute(path)));
      if (stats.isErr()) return 'nothing';
      return stats.value.isDirectory() ? 'folder' : 'file';
    },
    list: (folder) => jsonFiles(access, absolute(folder), 0),
    read: (path) => attempt(path, () => readFileSync(absolute(path), 'utf8')),
    write: (path, text, options) => writeWhole(absolute(path), text, options?.isNew === true),
    remove: (path) => attempt(path, () => rmSync(absolute(path))),
    changed: (paths) => changed(paths.map(absolute)),
  };
}

/** A file that does not exist yet is not a link. */
function realPathOf(access: FolderAccess, path: string): string {
  return access.resolve(path).unwrapOr(path);
}

function jsonFiles(access: FolderAccess, folder: string, depth: number): readonly string[] {
  const names = access.list(folder).unwrapOr([]);
  return names.flatMap((name) => {
    if (name.startsWith('.') || name === 'node_modules') return [];
    const path = join(folder, name);
    const kind = access.stat(path).match(
      ({ kind }) => kind,
      () => undefined,
    );
    if (kind === 'folder') return depth < DEPTH_MAX ? jsonFiles(access, path, depth + 1) : [];
    return name.endsWith('.json') ? [path] : [];
  });
}

/** Written to a temporary file and then moved, so that nobody sees half a file. */
function writeWhole(path: string, text: string, isNew: boolean): Result<void, FileFailure> {
  const draft = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  return attempt(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text);
    try {
      // A link fails if the file exists, where a rename would replace it.
      if (isNew) linkSync(draft, path);
      else renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

function changed(paths: readonly string[]): Promise<void> {
  const watchers: FSWatcher[] = [];
  return new Promise<void>((done, fail) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(timer);
      timer = setTimeout(done, SETTLE_MS);
    };
    for (const folder of new Set(paths)) {
      const watcher = watch(folder, settle);
      watcher.on('error', fail);
      watchers.push(watcher);
    }
  }).finally(() => {
    for (const watcher of watchers) watcher.close();
  });
}

function attempt<Value>(path: string, access: () => Value): Result<Value, FileFailure> {
  try {
    return ok(access());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return err({ code: 'file_absent', path });
    if (code === 'EEXIST') return err({ code: 'file_exists', path });
    if (typeof code === 'string') return err({ code: 'file_failed', path, cause: code });
    throw error;
  }
}
