import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  type FSWatcher,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AuthorFiles, FileFailure } from '../../app/ports/author-files.ts';
import type { SourceFile, Unread } from '../../app/ports/workflow-sources.ts';
import { readRegular } from '../guarded-file.ts';
import { contentAt, type FolderAccess } from './read-folder.ts';

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
    content: (path, within) => contentAt(access, absolute(path), within && realPathOf(access, absolute(within))),
    read: (path) => {
      if (statSync(absolute(path), { throwIfNoEntry: false }) === undefined) return err({ code: 'file_absent', path });
      const content = contentAt(access, absolute(path));
      return content.kind === 'text' ? ok(content.text) : err({ code: 'file_failed', path, cause: causeOf(content) });
    },
    write: (path, text, options) => {
      if (options?.isNew === true) return writeNew(absolute(path), text);
      const real = realPathOf(access, absolute(path));
      const isCurrent = () => options?.replaces === undefined || isText(contentAt(access, real), options.replaces);
      return replace(real, text, isCurrent);
    },
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

function causeOf({ reason }: Unread): string {
  return reason.code === 'io_failed' ? reason.cause : reason.code.replaceAll('_', ' ');
}

/** A link fails if the file exists, where a rename would replace it. */
function writeNew(path: string, text: string): Result<void, FileFailure> {
  return attempt(path, () => viaDraft(path, { text }, (draft) => linkSync(draft, path)));
}

/** Nothing but the text changes: a byte order mark and the file's mode stay, and so does a link to it. */
function replace(path: string, text: string, isCurrent: () => boolean): Result<void, FileFailure> {
  const replaced = attempt(path, () => {
    const before = statSync(path, { throwIfNoEntry: false });
    const hasMark = before?.isFile() === true && readRegular(path).subarray(0, 3).equals(BYTE_ORDER_MARK);
    const whole = { text: hasMark ? `\uFEFF${text}` : text, mode: before?.mode };
    let isReplaced = false;
    viaDraft(path, whole, (draft) => {
      // Looked at last, when only a single operation is left to do.
      isReplaced = isCurrent();
      if (isReplaced) renameSync(draft, path);
    });
    return isReplaced;
  });
  return replaced.andThen((isReplaced) => (isReplaced ? ok(undefined) : err({ code: 'file_changed' as const, path })));
}

function isText(content: SourceFile['content'], text: string): boolean {
  return content.kind === 'text' && content.text === text;
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Written to a temporary file and then moved, so that nobody sees half a file. */
function viaDraft(
  path: string,
  { text, mode }: { readonly text: string; readonly mode?: number | undefined },
  move: (draft: string) => void,
): void {
  const draft = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(draft, text);
  try {
    if (mode !== undefined) chmodSync(draft, mode);
    move(draft);
  } finally {
    rmSync(draft, { force: true });
  }
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
