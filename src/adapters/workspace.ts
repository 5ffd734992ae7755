import { execFile } from 'node:child_process';
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
import { isSeen } from '../core/run/gate-facts.ts';
import { truncate } from '../core/text/utf8.ts';
import { leadsOutside } from '../core/text/words.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import { boundedCache } from './bounded-cache.ts';
import { realFolder, repositoryAround } from './checks/folders-above.ts';
import { plainHead } from './checks/plain-repository.ts';
import { gitEnvironment, runGit, treeOf } from './checks/read-tree.ts';
import { isFile, isFolder, isInside } from './guarded-file.ts';
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
      const [shown, commit, ref] = plainHead(workspace, top) ?? (await askGit(workspace, msMax.start));
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
    folder: (named) => (isFolder(named) ? realFolder(named) : undefined),
    top: (named) => repositoryAround(realFolder(named) ?? resolve(named)),
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
      return top === undefined ? undefined : await treeOf(top, how);
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

type FactsWish = Pick<Hasher, 'sha256'> & {
  readonly isTreeAsked: boolean;
  /** How long git may take. */
  readonly msMax?: typeof MS_MAX;
};

/** Looks at a repository for somebody who cannot see it. The files are looked at only if asked. */
export async function folderFacts(
  folder: string,
  { isTreeAsked, sha256, msMax = MS_MAX }: FactsWish,
): Promise<WorkspaceFacts> {
  const workspace = realFolder(folder) ?? resolve(folder);
  const top = repositoryAround(workspace);
  if (top === undefined) return {};
  const end = performance.now() + msMax.start;
  const how = { sha256, end: performance.now() + msMax.short, isEveryByteRead: false };
  const [[, commit, ref], origin, tree] = await Promise.all([
    askGit(workspace, msMax.start),
    runGit(workspace, ['config', '--get', 'remote.origin.url'], { end }),
    isTreeAsked ? treeOf(top, how) : undefined,
  ]);
  const seen = isSeen(tree) ? tree : undefined;
  return {
    remote: origin === undefined ? undefined : sharedName(origin.trim()),
    branch: BRANCH.exec(ref ?? '')?.[1],
    head_sha: commit !== undefined && COMMIT.test(commit) ? commit : undefined,
    tree_digest: seen?.treeDigest,
    changed: seen?.changed,
    files_unseen: tree === undefined || isSeen(tree) ? undefined : tree,
  };
}

/** Top folder, commit and full branch name, as far as git knows them: a new repository has no commit yet. */
function askGit(folder: string, timeout: number): Promise<readonly (string | undefined)[]> {
  const questions = ['rev-parse', '--show-toplevel', 'HEAD', '--symbolic-full-name', 'HEAD'];
  return new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, ...questions],
      { env: gitEnvironment(), timeout, windowsHide: true, maxBuffer: OUTPUT_BYTES_MAX },
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
