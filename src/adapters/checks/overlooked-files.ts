import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '../../core/json/json-value.ts';
import type { ChangedFile } from '../../core/run/gate-facts.ts';

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

const LINK = '120000';
const FOLDER = '160000';
const PROGRAM = '100755';
const FILE = '100644';

/**
 * What neither `git status` nor the bytes of files say about a work tree: files that are missing or of another kind though
 * git was told not to look, where links lead, which new files are programs, and what is in the repositories inside of it.
 * Nothing where all is as usual; `undefined` where it cannot be read.
 */
export async function overlookedIn(
  root: string,
  seen: {
    readonly differing: readonly Pick<ChangedFile, 'state' | 'path'>[];
    readonly tracked: readonly TrackedFile[];
  },
  nestedTree: (folder: string) => Promise<NestedTree | undefined>,
): Promise<readonly JsonValue[] | undefined> {
  const { differing, tracked } = seen;
  const shown = new Set(differing.map(({ path }) => path));
  const hidden = tracked.filter(({ path, isUnwatched }) => isUnwatched || !shown.has(path));
  // Names that are no UTF-8 cannot be looked up.
  if ([...differing, ...tracked.filter(({ isUnwatched }) => isUnwatched)].some(isGarbled)) return undefined;
  try {
    const found: JsonValue[] = [
      ...differing.flatMap((file) => kindShown(root, file)),
      ...hidden.flatMap((file) => kindHidden(root, file)),
    ];
    for (const { path, commit } of nestedIn(root, seen)) {
      const nested = await nestedTree(join(root, path));
      if (nested === undefined) return undefined;
      if (!(nested.isClean && nested.headSha === commit)) found.push([path, nested.headSha, nested.treeDigest]);
    }
    return found;
  } catch {
    // Somebody changes files while they are read, or keeps them from being read.
    return undefined;
  }
}

function isGarbled({ path }: Pick<ChangedFile, 'path'>): boolean {
  return path.includes('\uFFFD');
}

/** `git status` says whether a committed file is a program, but neither that of a new one nor where a link leads. */
function kindShown(root: string, { state, path }: Pick<ChangedFile, 'state' | 'path'>): JsonValue[] {
  const mode = modeOf(join(root, path));
  if (mode === LINK) return [[path, LINK, readlinkSync(join(root, path))]];
  return state === '??' && mode === PROGRAM ? [[path, PROGRAM]] : [];
}

function kindHidden(root: string, { path, mode, blob }: TrackedFile): JsonValue[] {
  const at = join(root, path);
  const found = modeOf(at);
  if (found === LINK) return mode === LINK && linkId(at, blob) === blob ? [] : [[path, LINK, readlinkSync(at)]];
  // Windows has neither programs nor, as a rule, links.
  const isUsual = found === mode || (process.platform === 'win32' && found === FILE && mode !== FOLDER);
  return isUsual ? [] : [[path, found ?? null]];
}

/** The id that git gives to the text of a link, by the hash that the repository uses. */
function linkId(path: string, blob: string): string {
  const target = readlinkSync(path, 'buffer');
  const hash = createHash(blob.length === 40 ? 'sha1' : 'sha256');
  return hash.update(`blob ${target.length}\0`).update(target).digest('hex');
}

/** Submodules with the commit that the index names, and repositories that nobody added. An empty folder is a submodule that was not fetched. */
function nestedIn(
  root: string,
  { differing, tracked }: Parameters<typeof overlookedIn>[1],
): readonly { readonly path: string; readonly commit?: string }[] {
  const isFilled = ({ path }: TrackedFile) =>
    modeOf(join(root, path)) === FOLDER && readdirSync(join(root, path)).length > 0;
  const submodules = tracked.filter((file) => file.mode === FOLDER && isFilled(file));
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

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Another file is where its folder was.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
