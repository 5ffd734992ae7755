import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { defined, type JsonValue } from '../../core/json/json-value.ts';
import type { ChangedFile } from '../../core/run/gate-facts.ts';
import { type UnseenFiles, unseenFiles } from '../../core/run/unseen-files.ts';
import { errorCode } from '../guarded-file.ts';

/** A file that the index of a repository names. */
export type TrackedFile = {
  readonly path: string;
  readonly mode: string;
  /** Its content in the index, which is that of the last commit unless `git status` says otherwise. */
  readonly blob: string;
  /** `git status` does not show changes of it: somebody marked it as unchanged, or left it out of the work tree. */
  readonly isUnwatched: boolean;
};

/** The files of a repository inside of another one. It is clean if they are exactly its last commit. */
export type NestedTree = { readonly headSha: string; readonly treeDigest: string; readonly isClean: boolean };

export const LINK = '120000';
export const FOLDER = '160000';
const PROGRAM = '100755';
export const FILE = '100644';

/**
 * What neither `git status` nor the bytes of files say about a work tree: files that are missing or of another kind though
 * git was told not to look, where links lead, which new files are programs, and what is in the repositories inside of it.
 * The list is empty if none of this applies.
 */
export async function overlookedIn(
  root: string,
  seen: {
    readonly differing: readonly Pick<ChangedFile, 'state' | 'path'>[];
    readonly tracked: readonly TrackedFile[];
  },
  nestedTree: (folder: string) => Promise<Result<NestedTree, UnseenFiles>>,
): Promise<Result<readonly JsonValue[], UnseenFiles>> {
  const { differing, tracked } = seen;
  const shown = new Set(differing.map(({ path }) => path));
  const hidden = tracked.filter(({ path, isUnwatched }) => isUnwatched || !shown.has(path));
  // Names that are not UTF-8 cannot be looked up.
  const garbled = [...differing, ...tracked].find(isGarbled);
  if (garbled !== undefined) return err(unseenFiles('name_not_text', garbled));
  try {
    const found: JsonValue[] = [
      ...differing.flatMap((file) => kindShown(root, file)),
      ...hidden.flatMap((file) => kindHidden(root, file)),
    ];
    for (const { path, commit } of nestedIn(root, seen)) {
      const nested = await nestedTree(join(root, path));
      if (nested.isErr()) return err(unseenFiles(nested.error.unseen, within(path, nested.error)));
      const { headSha, treeDigest, isClean } = nested.value;
      if (!(isClean && headSha === commit)) found.push([path, headSha, treeDigest]);
    }
    return ok(found);
  } catch (cause) {
    // Somebody changes files while they are read, or keeps them from being read.
    const said = errorCode(cause);
    if (said === undefined) throw cause;
    const { path } = cause as NodeJS.ErrnoException;
    return err(unseenFiles('file_unreadable', { said, path: path && relative(root, path) }));
  }
}

/** The path and the message of a repository inside of this one, with the path from the outer one. */
function within(folder: string, { path, said }: UnseenFiles): Pick<UnseenFiles, 'path' | 'said'> {
  return { path: path === undefined ? folder : join(folder, path), ...defined({ said }) };
}

function isGarbled({ path }: Pick<ChangedFile, 'path'>): boolean {
  return path.includes('\uFFFD');
}

/** `git status` says whether a committed file is a program, but neither that of a new one nor where a link leads. */
function kindShown(root: string, { state, path }: Pick<ChangedFile, 'state' | 'path'>): JsonValue[] {
  const mode = modeOf(join(root, path));
  if (mode === LINK) return [[path, LINK, linkTarget(join(root, path))]];
  return state === '??' && mode === PROGRAM ? [[path, PROGRAM]] : [];
}

function kindHidden(root: string, { path, mode, blob }: TrackedFile): JsonValue[] {
  const at = join(root, path);
  const found = modeOf(at);
  if (found === LINK) return mode === LINK && linkId(at, blob) === blob ? [] : [[path, LINK, linkTarget(at)]];
  // Windows has neither programs nor, as a rule, links.
  const isUsual = found === mode || (process.platform === 'win32' && found === FILE && mode !== FOLDER);
  return isUsual ? [] : [[path, found ?? null]];
}

/**
 * The id of the tree that the index names, computed from its entries: git believes what the index and the objects of a
 * repository say about themselves, and anybody can write these. The index is in the order in which trees are.
 */
export function indexTreeId(files: readonly TrackedFile[], idLength: number, from = 0): string {
  const entries: Buffer[] = [];
  const add = (mode: string, name: string, id: string) =>
    entries.push(Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex'));
  for (let i = 0; i < files.length; ) {
    const { path, mode, blob } = files[i] as TrackedFile;
    const slash = path.indexOf('/', from);
    const folder = path.slice(0, slash + 1);
    let end = i + 1;
    while (slash !== -1 && files[end]?.path.startsWith(folder) === true) end += 1;
    if (slash === -1) add(mode, path.slice(from), blob);
    else add('40000', path.slice(from, slash), indexTreeId(files.slice(i, end), idLength, slash + 1));
    i = end;
  }
  return objectId('tree', Buffer.concat(entries), idLength);
}

/** The id of an object, by the hash that the repository uses. */
function objectId(kind: string, content: Buffer, idLength: number): string {
  const hash = createHash(idLength === 40 ? 'sha1' : 'sha256');
  return hash.update(`${kind} ${content.length}\0`).update(content).digest('hex');
}

/** The target of a link. Different bytes that are not text would become the same text, so they stay bytes. */
function linkTarget(path: string): JsonValue {
  const target = readlinkSync(path, 'buffer');
  const text = target.toString();
  return Buffer.from(text).equals(target) ? text : [target.toString('hex')];
}

/** The id that git gives to the text of a link. */
function linkId(path: string, blob: string): string {
  return objectId('blob', readlinkSync(path, 'buffer'), blob.length);
}

/** Submodules with the commit that the index names, and repositories that nobody added. An empty folder is a submodule that was not fetched. */
function nestedIn(
  root: string,
  { differing, tracked }: Parameters<typeof overlookedIn>[1],
): readonly { readonly path: string; readonly commit?: string }[] {
  const isFetched = ({ path }: TrackedFile) =>
    modeOf(join(root, path)) === FOLDER && readdirSync(join(root, path)).length > 0;
  const submodules = tracked.filter((file) => file.mode === FOLDER && isFetched(file));
  return [
    ...submodules.map(({ path, blob }) => ({ path, commit: blob })),
    ...differing.filter(({ state, path }) => state === '??' && path.endsWith('/')).map(({ path }) => ({ path })),
  ];
}

/** What is at a path, as git writes it down. A link is not followed. */
function modeOf(path: string): string | undefined {
  const stats = statsOf(path);
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return LINK;
  if (stats.isDirectory()) return FOLDER;
  if (!stats.isFile()) return 'other';
  return (stats.mode & 0o100) === 0 ? FILE : PROGRAM;
}

/** Whether a file is there with some content. What cannot be looked at may have any. */
export function isFilled(path: string): boolean {
  try {
    return (statsOf(path)?.size ?? 0) > 0;
  } catch {
    return true;
  }
}

/** Whether a file may be anything but a program. */
export function isPlain(path: string): boolean {
  try {
    return ![PROGRAM, undefined].includes(modeOf(path));
  } catch {
    return true;
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Another file is where its folder was.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
