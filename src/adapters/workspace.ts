import { execFile } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Hasher } from '../app/ports/system-services.ts';
import type {
  CommitReader,
  GitPatience,
  ReferenceFinder,
  WorkspaceFacts,
  WorkspaceObserver,
} from '../app/ports/workspace-observer.ts';
import { canonicalBytes } from '../core/json/canonical-json.ts';
import type { ObservationData } from '../core/log/events/run-events.ts';
import type { ShownReference } from '../core/prompt/reply-parts.ts';
import type { BoundWorkspace, ChangedFile } from '../core/run/gate-facts.ts';
import { leadsOutside } from '../core/text/words.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import { isInside } from './guarded-file.ts';

/**
 * Starting a workflow must not wait for a repository on a slow disk. Where a person waits it may take longer, and what is
 * recorded already is worth even more time.
 */
const MS_MAX: { readonly [patience in GitPatience | 'start']: number } = { start: 300, short: 2_000, long: 20_000 };
const OUTPUT_BYTES_MAX = 16 * 1024;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const BRANCH = /^refs\/heads\/(.+)$/;

/** Asks git about the workspace. Outside of a repository, only the folder itself is observed. */
export function gitObserver({ sha256 }: Hasher, msMax = MS_MAX): WorkspaceObserver {
  return {
    observe: async (named) => {
      if (named === undefined) return [];
      const found = realFolder(named);
      const workspace = found ?? resolve(named);
      // A folder that is not there may have been written wrongly.
      if (!isInRepository(workspace)) return rootSeen(workspace, found === undefined ? 'low' : 'high', sha256);
      const [root, commit, ref] = await askGit(workspace, msMax.start);
      const branch = BRANCH.exec(ref ?? '')?.[1];
      return [
        ...(branch === undefined ? [] : [branchSeen(branch)]),
        ...(commit !== undefined && COMMIT.test(commit) ? [commitSeen(commit)] : []),
        // If git does not answer, this may be a folder inside the repository.
        ...rootSeen(root ?? workspace, root === undefined ? 'med' : 'high', sha256),
      ];
    },
    tree: async (named, patience = 'short', isEveryByteRead = false) => {
      if (named === undefined) return undefined;
      const workspace = realFolder(named) ?? resolve(named);
      const how = { sha256, msMax: msMax[patience], isEveryByteRead };
      return isInRepository(workspace) ? await treeOf(workspace, how) : undefined;
    },
  };
}

/** Longer than any repository needs to name a commit. */
const COMMIT_MS_MAX = 10_000;

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
  if (!isInRepository(workspace)) return {};
  const end = performance.now() + MS_MAX.start;
  const [[, commit, ref], origin, tree] = await Promise.all([
    askGit(workspace, MS_MAX.start),
    runGit(workspace, ['config', '--get', 'remote.origin.url'], { end }),
    isTreeAsked ? treeOf(workspace, { sha256, msMax: MS_MAX.short, isEveryByteRead: false }) : undefined,
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

const SCP = /^(?:[^@/\s]+@)?([^:/\s]+):(?!\/\/)(.+)$/;

/** Where a repository was cloned from, spelled the same on every machine: no scheme, no credentials, no `.git`. */
export function sharedName(remote: string): string | undefined {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(remote);
  const [, host, path] = isUrl ? partsOf(remote) : (SCP.exec(remote) ?? []);
  // A path of this machine is no name for others; a single letter is a drive.
  if (host === undefined || host.length < 2 || path === undefined) return undefined;
  const name = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  return name === '' ? undefined : `${host.toLowerCase()}/${name}`;
}

function partsOf(remote: string): readonly string[] {
  if (!URL.canParse(remote)) return [];
  const { protocol, hostname, pathname } = new URL(remote);
  return protocol === 'file:' ? [] : [remote, hostname, pathname];
}

const TREE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Everything in the work tree that git does not ignore: the tree of the last commit, what differs from it, and the
 * content of each file that differs, or that git was told not to look at.
 */
async function treeOf(
  workspace: string,
  how: { readonly sha256: Hasher['sha256']; readonly msMax: number; readonly isEveryByteRead: boolean },
): Promise<BoundWorkspace> {
  const { sha256, msMax, isEveryByteRead } = how;
  const end = performance.now() + msMax;
  const git = (args: readonly string[], input?: string) => runGit(workspace, args, { end, input });
  const [names, status, tracked] = await Promise.all([
    git(['rev-parse', '--show-toplevel', 'HEAD', 'HEAD^{tree}']),
    git(['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignore-submodules=none']),
    git(['ls-files', '-v', '-z', '--full-name', ':/']),
  ]);
  const [root, headSha, tree] = names?.split('\n') ?? [];
  if (root === undefined || headSha === undefined || !COMMIT.test(headSha) || status === undefined) return 'unknown';
  if (tracked === undefined) return 'unknown';
  const differing = changedFiles(status);
  const unseen = isEveryByteRead ? trackedFiles(tracked) : unwatchedFiles(tracked);
  const files = [...differing, ...unseen].filter(({ path }) => isFile(join(root, path)));
  const ids = await contentIds(
    files.map(({ path }) => join(root, path)),
    git,
  );
  if (ids === undefined) return 'unknown';
  const blobs = new Map(files.map(({ path }, i) => [path, ids[i]]));
  const changed = differing.map((file) => ({ ...file, blob: blobs.get(file.path) }));
  const bytes = canonicalBytes({ v: 1, tree: tree ?? null, status, files: ids.map((id) => id ?? null) });
  return bytes.isErr() ? 'unknown' : { headSha, treeDigest: sha256(bytes.value), changed };
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

/**
 * Files whose changes `git status` does not show, because somebody marked them as unchanged or left them out of the
 * work tree, in the output of `git ls-files -v -z`.
 */
function unwatchedFiles(tracked: string): readonly Pick<ChangedFile, 'path'>[] {
  const marked = tracked.split('\0').filter((entry) => /^[a-zS] /.test(entry));
  return marked.map((entry) => ({ path: entry.slice(2) }));
}

/** Every file that the index names. */
function trackedFiles(tracked: string): readonly Pick<ChangedFile, 'path'>[] {
  return tracked.split('\0').flatMap((entry) => (entry === '' ? [] : [{ path: entry.slice(2) }]));
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

function runGit(
  folder: string,
  args: readonly string[],
  { end, input }: { readonly end: number; readonly input?: string | undefined },
): Promise<string | undefined> {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env;
  const timeout = Math.max(1, Math.round(end - performance.now()));
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      // A hook of the repository must not say what has changed, and the size of a file is not its content.
      ['-C', folder, ...TRUSTED.flatMap((setting) => ['-c', setting]), ...args],
      { env: { ...env, GIT_OPTIONAL_LOCKS: '0' }, timeout, maxBuffer: TREE_BYTES_MAX, windowsHide: true },
      (failure, output) => resolve(failure === null ? output : undefined),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/** Whether this is inside a repository: running git takes longer than everything else in a start. */
function isInRepository(folder: string): boolean {
  let at: string | undefined = folder;
  while (at !== undefined && !existsSync(join(at, '.git'))) at = dirname(at) === at ? undefined : dirname(at);
  return at !== undefined;
}

/** With links resolved, as git does, so that one folder has one name; `undefined` if it does not exist. */
function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/**
 * Top folder, commit and full branch name, as far as git knows them: a new repository has no commit yet. Variables that
 * point git to another repository are removed.
 */
function askGit(folder: string, timeout: number): Promise<readonly (string | undefined)[]> {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env;
  const questions = ['rev-parse', '--show-toplevel', 'HEAD', '--symbolic-full-name', 'HEAD'];
  return new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, ...questions],
      { env: { ...env, GIT_OPTIONAL_LOCKS: '0' }, timeout, maxBuffer: OUTPUT_BYTES_MAX, windowsHide: true },
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

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
