import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { join, parse } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { SourceFile, UnreadReason, WorkflowFile } from '../../app/ports/workflow-sources.ts';
import { WORKFLOW_FILE_BYTES_MAX } from '../../core/workflow/source/parse-source.ts';
import type { BoundedCache } from '../bounded-cache.ts';
import { isInside, readRegular } from '../guarded-file.ts';
import { type CopyDigests, contentDigest } from './git-copies.ts';

/** What is known about a file without reading it. While this is unchanged, so is the file. */
export type FoundPath =
  | { readonly kind: 'file'; readonly realPath: string; readonly size: number; readonly modifiedMs: number }
  | { readonly kind: 'folder' }
  | { readonly kind: 'unread'; readonly reason: UnreadReason };

/**
 * Looks at a path and follows a link; `undefined` if nothing is there. A link must not lead out of the root, which is a
 * path without links.
 */
function findPath(access: FolderAccess, path: string, root: string): FoundPath | undefined {
  const stats = access.stat(path);
  if (stats.isErr()) return stats.error.code === 'absent' ? undefined : unread(stats.error);
  const { kind, size, modifiedMs } = stats.value;
  if (kind === 'file') return { kind: 'file', realPath: path, size, modifiedMs };
  if (kind === 'folder') return { kind: 'folder' };
  return kind === 'link' ? findThroughLinks(access, path, root) : unread({ code: 'not_a_file' });
}

/** The same, for a path whose folders may be links too. */
export function findThroughLinks(access: FolderAccess, path: string, root: string): FoundPath {
  const target = access.resolve(path);
  if (target.isErr()) return unread(target.error.code === 'absent' ? { code: 'not_a_file' } : target.error);
  const realPath = target.value;
  if (!isInside(realPath, root)) return unread({ code: 'leads_outside', target: realPath });
  const stats = access.stat(realPath);
  if (stats.isErr()) return unread(stats.error.code === 'absent' ? { code: 'not_a_file' } : stats.error);
  if (stats.value.kind === 'folder') return { kind: 'folder' };
  if (stats.value.kind !== 'file') return unread({ code: 'not_a_file' });
  return { kind: 'file', realPath, size: stats.value.size, modifiedMs: stats.value.modifiedMs };
}

/** Files as they were last read, each with a stamp of that time. */
type KeptFiles = BoundedCache<string, { readonly stamp: string; readonly file: SourceFile }>;

type FileReader = { readonly access: FolderAccess; readonly kept: KeptFiles };

/** Reads a file. If its stamp is unchanged, it is not read again and the same object is returned. */
export function readSourceFile<File extends SourceFile>(
  { access, kept, pinned }: FileReader & { readonly pinned?: PinnedContent | undefined },
  found: Exclude<FoundPath, { kind: 'folder' }>,
  file: Omit<File, 'content'>,
): File {
  const key = JSON.stringify(file);
  const stamp = JSON.stringify([found, pinned?.digest]);
  const known = kept.get(key);
  // An entry under this key was made from the same fields, so it is the same kind of file.
  if (known?.stamp === stamp) return known.file as File;
  const made = { ...file, content: found.kind === 'unread' ? found : contentOf(access, found, pinned) } as File;
  kept.set(key, { stamp, file: made });
  return made;
}

/** A file of a source that is pinned: it must still be what was fetched. Without a digest, the file was added later. */
type PinnedContent = { readonly source: string; readonly digest: string | undefined };

const utf8 = new TextDecoder('utf-8', { fatal: true });

function contentOf(
  access: FolderAccess,
  { realPath, size }: Extract<FoundPath, { kind: 'file' }>,
  pinned?: PinnedContent,
): SourceFile['content'] {
  if (size > WORKFLOW_FILE_BYTES_MAX) {
    return unread({ code: 'too_large', bytes: size, bytesMax: WORKFLOW_FILE_BYTES_MAX });
  }
  const bytes = access.read(realPath);
  if (bytes.isErr()) return unread(bytes.error.code === 'absent' ? { code: 'not_a_file' } : bytes.error);
  if (pinned !== undefined && contentDigest(bytes.value) !== pinned.digest) {
    return unread({ code: 'copy_edited', source: pinned.source });
  }
  try {
    return { kind: 'text', text: utf8.decode(bytes.value) };
  } catch {
    return unread({ code: 'not_utf8' });
  }
}

/** The content of one file at any place, or within a folder, read like the files of a source. */
export function contentAt(access: FolderAccess, path: string, root = parse(path).root): SourceFile['content'] {
  const found = findThroughLinks(access, path, root);
  if (found.kind === 'folder') return unread({ code: 'not_a_file' });
  return found.kind === 'unread' ? found : contentOf(access, found);
}

function unread(reason: UnreadReason): { readonly kind: 'unread'; readonly reason: UnreadReason } {
  return { kind: 'unread', reason };
}

/** Far more than anyone has; a folder may have this name by chance and hold anything. */
const FILES_MAX = 1000;
const DEPTH_MAX = 8;
/** Scenarios are beside the workflow that they test. */
const SCENARIO_FILE = '.test.json';

/** A folder of workflow files. */
export type SourceFolder = Pick<WorkflowFile, 'kind' | 'rank' | 'added'> & {
  readonly dir: string;
  /** The prefix of its files' names. */
  readonly refPrefix: string;
  /** The folder must not lead out of this one. Users may link their own folder to any place. */
  readonly within?: string;
  /** Of a pinned source: what its files were when they were fetched. */
  readonly digests?: CopyDigests;
};

type Walk = {
  readonly access: FolderAccess;
  readonly kept: KeptFiles;
  readonly folder: SourceFolder;
  readonly root: string;
  readonly files: WorkflowFile[];
};

/** Every workflow file in a folder and its subfolders. Unreadable files are listed with the reason. */
export function readFolder(reader: FileReader, folder: SourceFolder): readonly WorkflowFile[] {
  const { access } = reader;
  const root = access.resolve(folder.dir);
  const within = folder.within === undefined ? undefined : access.resolve(folder.within);
  const walk = { ...reader, folder, root: root.unwrapOr(folder.dir), files: [] };
  if (root.isErr()) {
    if (root.error.code !== 'absent') add(walk, '', root.error);
  } else if (within?.isOk() && !isInside(root.value, within.value)) {
    add(walk, '', { code: 'leads_outside', target: root.value });
  } else {
    enter(walk, '', 0);
    addDeleted(walk);
  }
  return walk.files;
}

/** Files of a pinned source that somebody deleted from its copy. */
function addDeleted(walk: Walk): void {
  const { digests, added, refPrefix } = walk.folder;
  if (digests === undefined || added === undefined) return;
  const present = new Set(walk.files.map(({ ref }) => ref));
  for (const inner of digests.keys()) {
    if (walk.files.length >= FILES_MAX) return;
    if (!isWorkflowFile(inner) || isSkipped(inner) || present.has(`${refPrefix}${inner}`)) continue;
    add(walk, inner, { code: 'copy_edited', source: added.name });
  }
}

/** Whether a path is one that the walk does not enter. */
function isSkipped(inner: string): boolean {
  const parts = inner.split('/');
  return parts.length > DEPTH_MAX + 1 || parts.some((part) => part.startsWith('.') || part === 'node_modules');
}

function isWorkflowFile(inner: string): boolean {
  return inner.endsWith('.json') && !inner.endsWith(SCENARIO_FILE);
}

function enter(walk: Walk, inner: string, depth: number): void {
  const names = walk.access.list(join(walk.root, inner));
  if (names.isErr()) {
    if (names.error.code !== 'absent') add(walk, inner, names.error);
    return;
  }
  for (const name of names.value) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    if (walk.files.length > FILES_MAX) return;
    visit(walk, inner === '' ? name : `${inner}/${name}`, depth);
  }
}

function visit(walk: Walk, inner: string, depth: number): void {
  const { access, root, folder } = walk;
  const isJson = isWorkflowFile(inner);
  const found = findPath(access, join(root, inner), root);
  if (found === undefined) return;
  if (found.kind === 'folder') {
    // Through a link, the same files would be listed twice.
    const isReal = access.stat(join(root, inner)).map(({ kind }) => kind === 'folder');
    if (depth < DEPTH_MAX && isReal.unwrapOr(false)) enter(walk, inner, depth + 1);
    return;
  }
  if (walk.files.length === FILES_MAX) {
    if (isJson) add(walk, '', { code: 'too_many_files', filesMax: FILES_MAX });
    return;
  }
  // A link out of the folder is always listed: it may lead to a folder of workflows.
  const isOutside = found.kind === 'unread' && found.reason.code === 'leads_outside';
  if (!isJson && !isOutside) return;
  const { added, digests } = folder;
  const pinned = digests && added && { source: added.name, digest: digests.get(inner) };
  walk.files.push(readSourceFile<WorkflowFile>({ ...walk, pinned }, found, head(folder, inner)));
}

function add(walk: Walk, inner: string, reason: UnreadReason): void {
  walk.files.push(readSourceFile<WorkflowFile>(walk, { kind: 'unread', reason }, head(walk.folder, inner)));
}

function head({ kind, rank, dir, refPrefix, added }: SourceFolder, inner: string): Omit<WorkflowFile, 'content'> {
  const isInRoutines = inner.split('/').slice(0, -1).includes('routines');
  return { ref: `${refPrefix}${inner}`, path: join(dir, inner), kind, rank, isInRoutines, ...(added && { added }) };
}

/** What is at a path. A link is not followed. */
export type PathStats = {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
  readonly modifiedMs: number;
};

export type AccessFailure = { readonly code: 'absent' } | { readonly code: 'io_failed'; readonly cause: string };

/** All operations on folders of workflow files. */
export type FolderAccess = {
  /** Names in a folder, sorted. */
  list(path: string): Result<readonly string[], AccessFailure>;
  stat(path: string): Result<PathStats, AccessFailure>;
  /** The path without any link in it. */
  resolve(path: string): Result<string, AccessFailure>;
  read(path: string): Result<Uint8Array, AccessFailure>;
};

/** Synchronous: a thousand awaits cost more than a thousand small calls. */
export const nodeFolderAccess: FolderAccess = {
  list: (path) => attempt(() => readdirSync(path).sort()),
  stat: (path) => attempt(() => statsOf(lstatSync(path))),
  resolve: (path) => attempt(() => realpathSync(path)),
  read: (path) => attempt(() => readRegular(path)),
};

function statsOf(stats: Stats): PathStats {
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
