import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { err, ok } from 'neverthrow';
import type { Hasher } from '../app/ports/system-services.ts';
import type {
  Commit,
  CommitReader,
  GitPatience,
  ReferenceFinder,
  WorkspaceFacts,
  WorkspaceObserver,
} from '../app/ports/workspace-observer.ts';
import { canonicalBytes } from '../core/json/canonical-json.ts';
import { PRINCIPAL_BYTES_MAX } from '../core/log/budgets.ts';
import type { ObservationData } from '../core/log/events/run-events.ts';
import type { ShownReference } from '../core/prompt/reply-parts.ts';
import type { BoundWorkspace, ChangedFile } from '../core/run/gate-facts.ts';
import { truncate } from '../core/text/utf8.ts';
import { leadsOutside } from '../core/text/words.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import { boundedCache } from './bounded-cache.ts';
import { type NestedTree, overlookedIn, type TrackedFile } from './checks/overlooked-files.ts';
import { isFile, isInside } from './guarded-file.ts';
import { sharedName } from './sources/git-copies.ts';

/**
 * Starting a workflow must not wait for a repository on a slow disk. Where a person waits it may take longer, and what is
 * recorded already is worth even more time.
 */
const MS_MAX: { readonly [patience in GitPatience | 'start']: number } = { start: 300, short: 2_000, long: 20_000 };
const OUTPUT_BYTES_MAX = 16 * 1024;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const BRANCH = /^refs\/heads\/(.+)$/;

/** Nobody changes their git settings often, and starting git costs more than the rest of a start. */
const AUTHOR_KNOWN_MS = 60_000;
const AUTHORS_MAX = 64;

/** Asks git about the workspace. Outside of a repository, only the folder itself is observed. */
export function gitObserver({ sha256 }: Hasher, msMax = MS_MAX): WorkspaceObserver {
  const authors = boundedCache<string, { readonly at: number; readonly author: string | undefined }>(AUTHORS_MAX);
  return {
    observe: async (named) => {
      if (named === undefined) return [];
      const found = realFolder(named);
      const workspace = found ?? resolve(named);
      const top = repositoryAround(workspace);
      // A folder that is not there may have been written wrongly.
      if (top === undefined) return rootSeen(workspace, found === undefined ? 'low' : 'high', sha256);
      const [shown, commit, ref] = await askGit(workspace, msMax.start);
      // A setting can make git look at another folder than the one that is worked in.
      const root = shown === undefined || realFolder(shown) === realFolder(top) ? shown : top;
      const branch = BRANCH.exec(ref ?? '')?.[1];
      return [
        ...(branch === undefined ? [] : [branchSeen(branch)]),
        ...(commit !== undefined && COMMIT.test(commit) ? [commitSeen(commit)] : []),
        // If git does not answer, this may be a folder inside the repository.
        ...rootSeen(root ?? workspace, root === undefined ? 'med' : 'high', sha256),
      ];
    },
    author: async (named) => {
      const workspace = named === undefined ? undefined : realFolder(named);
      if (workspace === undefined || repositoryAround(workspace) === undefined) return undefined;
      const now = performance.now();
      const known = authors.get(workspace);
      if (known !== undefined && now - known.at < AUTHOR_KNOWN_MS) return known.author;
      const asked = ['config', '--null', '--get-regexp', '^user\\.(name|email)$'];
      const author = identityIn(await runGit(workspace, asked, { end: now + msMax.start }));
      authors.set(workspace, { at: now, author });
      return author;
    },
    tree: async (named, patience = 'short', isEveryByteRead = false) => {
      if (named === undefined) return undefined;
      const workspace = realFolder(named) ?? resolve(named);
      const top = repositoryAround(workspace);
      const how = { sha256, end: performance.now() + msMax[patience], isEveryByteRead };
      return top === undefined ? undefined : await treeOf(workspace, top, how);
    },
  };
}

/** The name and address in the output of `git config --null --get-regexp`. The last value of a key is the one in effect. */
function identityIn(output: string | undefined): string | undefined {
  const values = new Map(
    (output ?? '').split('\0').map((entry) => {
      const [key = '', value = ''] = entry.split(/\n(.*)/s);
      return [key, value.replaceAll(/[\p{Cc}<>]/gu, ' ').trim()] as const;
    }),
  );
  const [name, address] = ['user.name', 'user.email'].map((key) => values.get(key) ?? '');
  const identity = [name, address === '' ? '' : `<${address}>`].filter((part) => part !== '').join(' ');
  return identity === '' ? undefined : truncate(identity, PRINCIPAL_BYTES_MAX);
}

/** Longer than any repository needs to name a commit. */
const COMMIT_MS_MAX = 10_000;

/** What a short name may stand for; a branch of the remote first. */
const SHORT_FOR = ['refs/remotes/', 'refs/heads/', 'refs/tags/'];

/** Reads what is committed. A name that looks like an option is not a name. */
export const gitCommits: CommitReader = {
  commitAt: async (folder, ref) => {
    const end = performance.now() + COMMIT_MS_MAX;
    if (ref.startsWith('-')) return undefined;
    const found = await runGit(folder, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], { end });
    const commit = found?.trim();
    if (commit === undefined || !COMMIT.test(commit)) return undefined;
    const tree = (await runGit(folder, ['rev-parse', '--verify', `${commit}^{tree}`], { end }))?.trim();
    return tree === undefined ? undefined : { commit, tree };
  },
  commitNamed: async (folder, name) => {
    const end = performance.now() + COMMIT_MS_MAX;
    if (COMMIT.test(name)) {
      const found = await gitCommits.commitAt(folder, name);
      return found?.commit === name ? ok(found) : err({ code: 'commit_unknown' });
    }
    const names = name.startsWith('refs/') ? [name] : SHORT_FOR.map((start) => `${start}${name}`);
    const meant: { readonly ref: string; readonly found: Commit }[] = [];
    for (const ref of names) {
      const id = (await runGit(folder, ['show-ref', '--verify', '--hash', ref], { end }))?.trim();
      const found = id !== undefined && COMMIT.test(id) ? await gitCommits.commitAt(folder, id) : undefined;
      if (found !== undefined) meant.push({ ref, found });
    }
    const [first, ...others] = meant;
    if (first === undefined) return err({ code: 'commit_unknown' });
    const isClear = others.every(({ found }) => found.commit === first.found.commit);
    const refs = [first.ref, ...others.map(({ ref }) => ref)] as const;
    return isClear ? ok(first.found) : err({ code: 'commit_ambiguous', refs });
  },
  fileAt: async (folder, ref, path) => {
    const end = performance.now() + COMMIT_MS_MAX;
    return ref.startsWith('-') ? undefined : runGit(folder, ['show', `${ref}:${path}`], { end });
  },
};

/** Looks at a repository for somebody who cannot see it. The files are looked at only if asked. */
export async function folderFacts(
  folder: string,
  { isTreeAsked, sha256 }: { readonly isTreeAsked: boolean } & Pick<Hasher, 'sha256'>,
): Promise<WorkspaceFacts> {
  const workspace = realFolder(folder) ?? resolve(folder);
  const top = repositoryAround(workspace);
  if (top === undefined) return {};
  const end = performance.now() + MS_MAX.start;
  const how = { sha256, end: performance.now() + MS_MAX.short, isEveryByteRead: false };
  const [[, commit, ref], origin, tree] = await Promise.all([
    askGit(workspace, MS_MAX.start),
    runGit(workspace, ['config', '--get', 'remote.origin.url'], { end }),
    isTreeAsked ? treeOf(workspace, top, how) : undefined,
  ]);
  const seen = tree === undefined || tree === 'unknown' ? undefined : tree;
  return {
    remote: origin === undefined ? undefined : sharedName(origin.trim()),
    branch: BRANCH.exec(ref ?? '')?.[1],
    head_sha: commit !== undefined && COMMIT.test(commit) ? commit : undefined,
    tree_digest: seen?.treeDigest,
    changed: seen?.changed,
  };
}

const TREE_BYTES_MAX = 32 * 1024 * 1024;

type TreeReading = { readonly sha256: Hasher['sha256']; readonly end: number; readonly isEveryByteRead: boolean };
type ReadTree = NestedTree & Exclude<BoundWorkspace, 'unknown'>;

async function treeOf(workspace: string, top: string, how: TreeReading): Promise<BoundWorkspace> {
  const read = await readTree(workspace, top, how);
  if (read === undefined) return 'unknown';
  const { isClean: _, ...tree } = read;
  return tree;
}

/**
 * Everything in the work tree that git does not ignore: the tree of the last commit, what differs from it, and the
 * content of each file that differs, or that git was told not to look at. `undefined` if it is not known.
 */
async function readTree(workspace: string, top: string, how: TreeReading): Promise<ReadTree | undefined> {
  const { sha256, end, isEveryByteRead } = how;
  const more = settings(isEveryByteRead ? STRICT : []);
  const git = (args: readonly string[], input?: string) => runGit(workspace, [...more, ...args], { end, input });
  const [names, status, listed] = await Promise.all([
    git(['rev-parse', '--show-toplevel', 'HEAD', 'HEAD^{tree}']),
    git(['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignore-submodules=none']),
    git(['ls-files', '-v', '-s', '-z', '--full-name', ':/']),
  ]);
  const [root, headSha, tree] = names?.split('\n') ?? [];
  if (status === undefined || listed === undefined || root === undefined) return undefined;
  if (headSha === undefined || !COMMIT.test(headSha)) return undefined;
  if (isEveryByteRead && realFolder(root) !== realFolder(top)) return undefined;
  const differing = changedFiles(status);
  const tracked = trackedFiles(listed);
  const unseen = tracked.filter(({ mode, isUnwatched }) => (isEveryByteRead && mode !== LINK) || isUnwatched);
  const isThere = ({ path }: Pick<ChangedFile, 'path'>) => isFile(join(root, path));
  const paths = [...differing, ...unseen].filter(isThere).map(({ path }) => join(root, path));
  const ids = await contentIds(paths, git);
  const look = isEveryByteRead ? overlookedIn : async () => [];
  const overlooked = await look(root, { differing, tracked }, (nested) => readTree(nested, nested, how));
  if (ids === undefined || overlooked === undefined) return undefined;
  const blobs = new Map(paths.map((path, i) => [path, ids[i]]));
  const blobOf = ({ path }: Pick<ChangedFile, 'path'>) => blobs.get(join(root, path)) ?? null;
  const changed = differing.map((file) => ({ ...file, blob: blobOf(file) ?? undefined }));
  const files = [
    ...differing.filter(isThere).map(blobOf),
    // Without its name, the content of one hidden file could stand for that of another. What is as it was committed says nothing.
    ...unseen.filter((file) => isThere(file) && blobOf(file) !== file.blob).map((file) => [file.path, blobOf(file)]),
  ];
  const isClean = status === '' && files.length === 0 && overlooked.length === 0;
  const others = overlooked.length === 0 ? {} : { overlooked };
  const bytes = canonicalBytes({ v: 1, tree: tree ?? null, status, files, ...others });
  return bytes.isErr() ? undefined : { headSha, treeDigest: sha256(bytes.value), changed, isClean };
}

type Git = (args: readonly string[], input?: string) => Promise<string | undefined>;

/** More of them do not fit on a command line. */
const ODD_NAMES_MAX = 200;

/**
 * The ids of the bytes of files, as they are: a filter of the repository must not say what a file contains. A name with a
 * line break cannot be sent in the list.
 */
async function contentIds(paths: readonly string[], git: Git): Promise<readonly (string | undefined)[] | undefined> {
  const odd = paths.filter((path) => path.includes('\n'));
  const plain = paths.filter((path) => !path.includes('\n'));
  if (odd.length > ODD_NAMES_MAX) return undefined;
  const hash = ['hash-object', '--no-filters'];
  const listed = plain.length === 0 ? '' : await git([...hash, '--stdin-paths'], `${plain.join('\n')}\n`);
  const named = odd.length === 0 ? '' : await git([...hash, '--', ...odd]);
  if (listed === undefined || named === undefined) return undefined;
  const ids = [listed, named].map((text) => text.split('\n'));
  const known = new Map([
    ...plain.map((path, i) => [path, ids[0]?.[i]] as const),
    ...odd.map((path, i) => [path, ids[1]?.[i]] as const),
  ]);
  return paths.map((path) => known.get(path));
}

const LINK = '120000';

/** Every file that the index names, in the output of `git ls-files -v -s -z`. */
function trackedFiles(tracked: string): readonly TrackedFile[] {
  return tracked.split('\0').flatMap((entry) => {
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

/** A repository can tell git to look at less than it should. */
const TRUSTED = ['core.fsmonitor=false', 'core.checkStat=default', 'core.trustctime=true'];

/** Or to take two names, or two kinds of file, for one. Windows has only one kind. */
const STRICT = [
  ...['core.ignoreCase=false', 'core.untrackedCache=false'],
  ...(process.platform === 'win32' ? [] : ['core.fileMode=true', 'core.symlinks=true']),
];

function settings(set: readonly string[]): readonly string[] {
  return set.flatMap((setting) => ['-c', setting]);
}

/** No variable points git to another repository or to other objects, and no object stands in for another. */
function gitOptions(timeout: number) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return { env: { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_NO_REPLACE_OBJECTS: '1' }, timeout, windowsHide: true };
}

function runGit(
  folder: string,
  args: readonly string[],
  { end, input }: { readonly end: number; readonly input?: string | undefined },
): Promise<string | undefined> {
  const timeout = Math.max(1, Math.round(end - performance.now()));
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      // A hook of the repository must not say what has changed, and the size of a file is not its content.
      ['-C', folder, ...settings(TRUSTED), ...args],
      { ...gitOptions(timeout), maxBuffer: TREE_BYTES_MAX },
      (failure, output) => resolve(failure === null ? output : undefined),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/** The folder of the repository that this is inside of: running git takes longer than everything else in a start. */
function repositoryAround(folder: string): string | undefined {
  let at: string | undefined = folder;
  while (at !== undefined && !existsSync(join(at, '.git'))) at = dirname(at) === at ? undefined : dirname(at);
  return at;
}

/** With links resolved, as git does, so that one folder has one name; `undefined` if it does not exist. */
function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** Top folder, commit and full branch name, as far as git knows them: a new repository has no commit yet. */
function askGit(folder: string, timeout: number): Promise<readonly (string | undefined)[]> {
  const questions = ['rev-parse', '--show-toplevel', 'HEAD', '--symbolic-full-name', 'HEAD'];
  return new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, ...questions],
      { ...gitOptions(timeout), maxBuffer: OUTPUT_BYTES_MAX },
      (_failure, output) => resolve(output === '' ? [] : output.split('\n')),
    );
  });
}

function branchSeen(value: string): ObservationData {
  return { key: 'git_branch', value: { type: 'short_string', value }, confidence: 'high' };
}

function commitSeen(commit: string): ObservationData {
  const value =
    commit.length === 40
      ? ({ type: 'git_sha1', value: commit } as const)
      : ({ type: 'sha256', value: `sha256:${commit}` } as const);
  return { key: 'git_head_sha', value, confidence: 'high' };
}

/** A folder as its path, and as a digest that reveals nothing about the path. */
function rootSeen(
  root: string,
  confidence: ObservationData['confidence'],
  sha256: Hasher['sha256'],
): readonly ObservationData[] {
  return canonicalBytes(root)
    .map((bytes): readonly ObservationData[] => [
      { key: 'repo_root_hash', value: { type: 'sha256', value: sha256(bytes) }, confidence },
      { key: 'repo_root', value: { type: 'path', value: root }, confidence },
    ])
    .unwrapOr([]);
}

type Reference = CompiledWorkflow['references'][number];

const WEB = /^https?:\/\//;

/** Finds referenced documents in the workspace and beside the bundled workflows. */
export function referenceFiles(packageFolder: string): ReferenceFinder {
  return {
    find: async (references, { workspace, file }) => {
      const own = isAbsolute(file) ? dirname(file) : packageFolder;
      return references.map((reference) => {
        const starts = reference.resolveFrom === 'package' ? [own, packageFolder] : [workspace];
        return shown(reference, starts, [workspace, own, dirname(packageFolder)]);
      });
    },
  };
}

/** A web address is used as it is. Nothing is fetched. */
function shown(
  reference: Reference,
  starts: readonly (string | undefined)[],
  folders: readonly (string | undefined)[],
): ShownReference {
  const { title, source, purpose, isAuthoritative } = reference;
  const head = { title, purpose, isAuthoritative };
  if (WEB.test(source)) return { ...head, path: source, isResolved: true, isOutside: true };
  const paths = starts.map((start) => (isAbsolute(source) || start === undefined ? source : join(start, source)));
  const found = paths.find((path) => isAbsolute(path) && isFile(path));
  const path = found ?? paths[0] ?? source;
  const isOutside = isAbsolute(path) ? !folders.some((folder) => isIn(path, folder)) : leadsOutside(reference);
  return { ...head, path, isResolved: found !== undefined, isOutside };
}

/** Whether a file is in a folder, with links resolved if it exists. */
function isIn(path: string, folder: string | undefined): boolean {
  if (folder === undefined) return false;
  const real = realFolder(folder) ?? resolve(folder);
  return isInside(realFolder(path) ?? resolve(real, relative(folder, path)), real);
}
