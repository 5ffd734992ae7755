import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { err, ok, Result, safeTry } from 'neverthrow';
import type { Hasher } from '../../app/ports/system-services.ts';
import type { Flow } from '../../core/flow.ts';
import { ownJsonBytes } from '../../core/json/canonical-json.ts';
import type { BoundWorkspace, ChangedFile, SeenFiles } from '../../core/run/gate-facts.ts';
import { GIT_SILENT, type UnseenFiles, unseenFiles } from '../../core/run/unseen-files.ts';
import { isFile } from '../guarded-file.ts';
import {
  FILE,
  FOLDER,
  indexTreeId,
  isFilled,
  isPlain,
  LINK,
  type NestedTree,
  overlookedIn,
  type TrackedFile,
} from './overlooked-files.ts';

const TREE_BYTES_MAX = 32 * 1024 * 1024;

export type TreeReading = {
  readonly sha256: Hasher['sha256'];
  /** By the clock of the process. */
  readonly end: number;
  readonly isEveryByteRead: boolean;
};
type ReadTree = NestedTree & SeenFiles;

/** The files of the repository whose top folder this is, as one digest, or why git cannot list them. */
export async function treeOf(top: string, how: TreeReading): Promise<BoundWorkspace> {
  const read = await readTree(top, how);
  if (read.isErr()) return read.error;
  const { isClean: _, ...tree } = read.value;
  return tree;
}

/**
 * Everything in the work tree that its own `.gitignore` files do not name: the tree of the last commit, what differs from
 * it, and the content of each file that differs, or that git was set to ignore. Nothing outside of the work tree
 * decides which files are read: no setting, no variable and no list in `.git`.
 */
async function readTree(root: string, how: TreeReading): Promise<Result<ReadTree, UnseenFiles>> {
  const { sha256, end, isEveryByteRead } = how;
  const git: Git = (args, input) =>
    askGit(root, [...PINNED, `--work-tree=${root}`, ...args], { end, input, ceiling: dirname(root) });
  return safeTry(async function* (): Flow<ReadTree, UnseenFiles> {
    const { attributes, headSha, tree, changes, news, tracked } = yield* await listingOf(git);
    const seen = isEveryByteRead ? changes : yield* await withoutModes(changes, { root, tracked, git });
    const status =
      seen +
      paths(news)
        .map((path) => `? ${path}\0`)
        .join('');
    const differing = changedFiles(status);
    // A list of attributes in `.git` can name filters that make an edited file look unchanged.
    const isRead = isEveryByteRead || isFilled(resolve(root, attributes));
    const filtered = isRead ? NO_FILES : yield* await filteredFiles(git, { root, tracked });
    const unseen = tracked.filter(
      ({ path, mode, isUnwatched }) => ((isRead || filtered.has(path)) && mode !== LINK) || isUnwatched,
    );
    const isThere = ({ path }: Pick<ChangedFile, 'path'>) => isFile(join(root, path));
    const there = [...differing, ...unseen].filter(isThere).map(({ path }) => join(root, path));
    const ids = yield* await contentIds(there, git);
    // Otherwise what git watches is as git says: some file systems have no modes.
    const looked = tracked.filter(({ isUnwatched, mode }) => isEveryByteRead || isUnwatched || mode === FOLDER);
    const seenOfAll = { differing, tracked: looked };
    const overlooked = yield* await overlookedIn(root, seenOfAll, (nested) => readTree(nested, how));
    const blobs = new Map(there.map((path, i) => [path, ids[i]]));
    const blobOf = ({ path }: Pick<ChangedFile, 'path'>) => blobs.get(join(root, path)) ?? null;
    const changed = differing.map((file) => ({ ...file, blob: blobOf(file) ?? undefined }));
    const files = [
      ...differing.filter(isThere).map(blobOf),
      // Without its name, the content of one hidden file could stand for that of another. A file with its committed content adds nothing.
      ...unseen.filter((file) => isThere(file) && blobOf(file) !== file.blob).map((file) => [file.path, blobOf(file)]),
    ];
    // Git believes what its index and its objects say about themselves.
    const index = indexTreeId(tracked, headSha.length);
    const others = {
      ...(overlooked.length === 0 ? {} : { overlooked }),
      ...(index === tree ? {} : { index }),
    };
    const isClean = status === '' && files.length === 0 && Object.keys(others).length === 0;
    const treeDigest = sha256(ownJsonBytes({ v: 1, tree, status, files, ...others }));
    return ok({ headSha, treeDigest, changed, isClean });
  });
}

type Listing = {
  /** The list of attributes in `.git`, by its path. */
  readonly attributes: string;
  readonly headSha: string;
  readonly tree: string;
  /** What differs from the last commit, and the new files, as git lists them. */
  readonly changes: string;
  readonly news: string;
  readonly tracked: readonly TrackedFile[];
};

/** What git says about the work tree. */
async function listingOf(git: Git): Promise<Result<Listing, UnseenFiles>> {
  const [names, changes, news, listed] = await Promise.all([
    git(['rev-parse', '--git-path', 'info/attributes', 'HEAD', 'HEAD^{tree}']),
    git(STATUS),
    git(NEW_FILES),
    git(['ls-files', '-v', '-s', '-z']),
  ]);
  // If git can read everything else, an unknown HEAD means that the repository has no commit yet.
  if (names.isErr() && [changes, news, listed].every((one) => one.isOk())) {
    const head = await git(['rev-parse', '--verify', '--quiet', 'HEAD']);
    const isBorn = head.isOk() || head.error.unseen !== 'git_failed';
    return err(isBorn ? names.error : unseenFiles('no_commit'));
  }
  return Result.combine([changes, news, listed, names]).map(([changes = '', news = '', listed = '', named = '']) => {
    const lines = named.trimEnd().split('\n');
    const [headSha = '', tree = ''] = lines.slice(-2);
    // The path may contain a line break.
    return { attributes: lines.slice(0, -2).join('\n'), headSha, tree, changes, news, tracked: trackedFiles(listed) };
  });
}

const STATUS = ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--ignore-submodules=none'];

/** New files, by the `.gitignore` files of the work tree alone. These are shown themselves, also where they name themselves. */
const NEW_FILES = ['ls-files', '--others', '-z', '--exclude=!.gitignore', '--exclude-per-directory=.gitignore'];

/**
 * A file system without modes shows every file as a program, which nobody made so. Only where that holds for all of them
 * may a setting say that modes do not count.
 */
async function withoutModes(
  changes: string,
  { root, tracked, git }: { readonly root: string; readonly tracked: readonly TrackedFile[]; readonly git: Git },
): Promise<Result<string, UnseenFiles>> {
  const plain = tracked.filter(({ mode }) => mode === FILE);
  if (plain.length === 0 || plain.some(({ path }) => isPlain(join(root, path)))) return ok(changes);
  const kept = await git(['config', '--local', '--type=bool', '--get', 'core.fileMode']);
  const isModeless = kept.isOk() && kept.value.trim() === 'false';
  return isModeless ? git(['-c', 'core.fileMode=false', ...STATUS]) : ok(changes);
}

const NO_FILES: ReadonlySet<string> = new Set();

/** What `git lfs install` sets. These commands look at the files themselves, which can be too large to read in time. */
const LFS_SETTINGS = ['filter.lfs.clean\ngit-lfs clean -- %f', 'filter.lfs.process\ngit-lfs filter-process'];

/**
 * The files to which a list of attributes in the work tree gives a filter: it can make an edited file look unchanged, also
 * after it was removed from the settings again.
 */
async function filteredFiles(
  git: Git,
  { root, tracked }: { readonly root: string } & Pick<Listing, 'tracked'>,
): Promise<Result<ReadonlySet<string>, UnseenFiles>> {
  const names = tracked.map(({ path }) => path);
  if (!hasAttributes(root, names)) return ok(NO_FILES);
  const [attributes, set] = await Promise.all([
    git(['check-attr', '-z', '--stdin', 'filter'], names.map((path) => `${path}\0`).join('')),
    git(['config', '-z', '--get-regexp', '^filter\\.lfs\\.(clean|process)$']),
  ]);
  // Git fails if nothing is set.
  const isLfs = set.isErr() || paths(set.value).every((setting) => LFS_SETTINGS.includes(setting));
  return attributes.map((text) => {
    const fields = text.split('\0');
    return new Set(
      names.filter((name, i) => {
        const [path, , value = ''] = fields.slice(3 * i, 3 * i + 3);
        const isSet = !['unspecified', 'unset', ...(isLfs ? ['lfs'] : [])].includes(value);
        return path !== name || isSet;
      }),
    );
  });
}

/** Whether a list of attributes lies in a folder of these files, also one that git ignores: git reads that one too. */
function hasAttributes(root: string, names: readonly string[]): boolean {
  const folders = new Set<string>();
  for (const name of names) {
    for (let at = dirname(name); !folders.has(at); at = dirname(at)) folders.add(at);
  }
  return [...folders].some((folder) => existsSync(join(root, folder, '.gitattributes')));
}

type Git = (args: readonly string[], input?: string) => Promise<Result<string, UnseenFiles>>;

/** More names do not fit on a command line. */
const NAMES_AT_ONCE = 100;

/**
 * The ids of the bytes of files, as they are: a filter of the repository must not say what a file contains. A name with a
 * line break cannot be sent in the list.
 */
async function contentIds(
  paths: readonly string[],
  git: Git,
): Promise<Result<readonly (string | undefined)[], UnseenFiles>> {
  return safeTry(async function* (): Flow<readonly (string | undefined)[], UnseenFiles> {
    // Git takes a line break for the end of a name, also the one that other systems write.
    const isOdd = (path: string) => path.includes('\n') || path.endsWith('\r');
    const odd = paths.filter(isOdd);
    const plain = paths.filter((path) => !isOdd(path));
    const hash = ['hash-object', '--no-filters'];
    const listed = plain.length === 0 ? '' : yield* await git([...hash, '--stdin-paths'], `${plain.join('\n')}\n`);
    let named = '';
    for (let i = 0; i < odd.length; i += NAMES_AT_ONCE) {
      named += yield* await git([...hash, '--', ...odd.slice(i, i + NAMES_AT_ONCE)]);
    }
    const ids = [listed, named].map((text) => text.split('\n'));
    const known = new Map([
      ...plain.map((path, i) => [path, ids[0]?.[i]] as const),
      ...odd.map((path, i) => [path, ids[1]?.[i]] as const),
    ]);
    return ok(paths.map((path) => known.get(path)));
  });
}

function paths(listed: string): readonly string[] {
  return listed.split('\0').filter((path) => path !== '');
}

/** Every file that the index names, in the output of `git ls-files -v -s -z`. */
function trackedFiles(listed: string): readonly TrackedFile[] {
  return paths(listed).flatMap((entry) => {
    const [, mark = '', mode = '', blob = '', path] = /^(\S) (\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    return path === undefined ? [] : [{ path, mode, blob, isUnwatched: /[a-zS]/.test(mark) }];
  });
}

/** The states and paths in the output of `git status --porcelain=v2 -z`. */
function changedFiles(status: string): readonly Pick<ChangedFile, 'state' | 'path'>[] {
  const entries = status.split('\0');
  const found: Pick<ChangedFile, 'state' | 'path'>[] = [];
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] ?? '';
    const fields = { '1': 8, '2': 9, u: 10, '?': 1 }[entry.charAt(0)];
    if (fields === undefined) continue;
    const [kind, xy = ''] = entry.split(' ');
    const state = kind === '?' ? '??' : xy.replaceAll('.', ' ').padEnd(2).slice(0, 2);
    found.push({ state, path: entry.split(' ').slice(fields).join(' ') });
    // A rename is followed by the path that it had before.
    if (entry.startsWith('2')) i += 1;
  }
  return found;
}

/** A hook of the repository must not say what has changed, and the size of a file is not its content. */
const TRUSTED = settings([
  'core.fsmonitor=false',
  'core.checkStat=default',
  'core.trustctime=true',
  'status.showStash=false',
]);

/** What a repository can set to make git overlook files, or take two names or two kinds for one. Windows has only one kind. */
const PINNED = settings([
  ...['core.ignoreCase=false', 'core.untrackedCache=false', 'core.attributesFile=', 'core.precomposeUnicode=true'],
  ...(process.platform === 'win32' ? [] : ['core.fileMode=true', 'core.symlinks=true']),
]);

function settings(set: readonly string[]): readonly string[] {
  return set.flatMap((setting) => ['-c', setting]);
}

/** No variable points git to another repository or to other objects, and no object stands in for another. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_NO_REPLACE_OBJECTS: '1' };
}

type Asking = { readonly end: number; readonly input?: string | undefined; readonly ceiling?: string };

/** What git prints; `undefined` if it fails or takes too long. Above the ceiling, no repository is looked for. */
export async function runGit(folder: string, args: readonly string[], how: Asking): Promise<string | undefined> {
  return (await askGit(folder, args, how)).unwrapOr(undefined);
}

/** What git prints, or why it does not. */
function askGit(folder: string, args: readonly string[], how: Asking): Promise<Result<string, UnseenFiles>> {
  const { end, input, ceiling } = how;
  const timeout = Math.max(1, Math.round(end - performance.now()));
  const env = { ...gitEnvironment(), ...(ceiling === undefined ? {} : { GIT_CEILING_DIRECTORIES: ceiling }) };
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      ['-C', folder, ...TRUSTED, ...args],
      { env, timeout, windowsHide: true, maxBuffer: TREE_BYTES_MAX },
      (failure, output, said) => resolve(failure === null ? ok(output) : err(causeOf(failure, said))),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

function causeOf({ code, killed, signal }: ExecFileException, said: string): UnseenFiles {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return unseenFiles('too_many_files');
  if (killed === true) return GIT_SILENT;
  if (code === 'ENOENT') return unseenFiles('git_failed', { said: 'the program git was not found' });
  const line = said.split('\n').find((one) => one.trim() !== '');
  return unseenFiles('git_failed', { said: line ?? (signal == null ? undefined : `ended by ${signal}`) });
}
