import { execFile } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Hasher } from '../app/ports/system-services.ts';
import type { ReferenceFinder, WorkspaceObserver } from '../app/ports/workspace-observer.ts';
import { canonicalBytes } from '../core/json/canonical-json.ts';
import type { ObservationData } from '../core/log/events/run-events.ts';
import type { ShownReference } from '../core/prompt/reply-parts.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';

/** Starting a workflow must not wait for a repository on a slow disk. */
const GIT_MS_MAX = 300;
const OUTPUT_BYTES_MAX = 16 * 1024;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const BRANCH = /^refs\/heads\/(.+)$/;

/** Asks git about the workspace. Outside of a repository, only the folder itself is observed. */
export function gitObserver({ sha256 }: Hasher): WorkspaceObserver {
  return {
    observe: async (named) => {
      if (named === undefined) return [];
      const workspace = realFolder(named) ?? resolve(named);
      if (!isInRepository(workspace)) return rootSeen(workspace, sha256);
      const [root, commit, ref] = await askGit(workspace);
      const branch = BRANCH.exec(ref ?? '')?.[1];
      return [
        ...(branch === undefined ? [] : [branchSeen(branch)]),
        ...(commit !== undefined && COMMIT.test(commit) ? [commitSeen(commit)] : []),
        ...rootSeen(root ?? workspace, sha256),
      ];
    },
  };
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
function askGit(folder: string): Promise<readonly (string | undefined)[]> {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env;
  const questions = ['rev-parse', '--show-toplevel', 'HEAD', '--symbolic-full-name', 'HEAD'];
  return new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, ...questions],
      { env: { ...env, GIT_OPTIONAL_LOCKS: '0' }, timeout: GIT_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX, windowsHide: true },
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
function rootSeen(root: string, sha256: Hasher['sha256']): readonly ObservationData[] {
  return canonicalBytes(root)
    .map((bytes): readonly ObservationData[] => [
      { key: 'repo_root_hash', value: { type: 'sha256', value: sha256(bytes) }, confidence: 'high' },
      { key: 'repo_root', value: { type: 'path', value: root }, confidence: 'high' },
    ])
    .unwrapOr([]);
}

type Reference = CompiledWorkflow['references'][number];

const WEB = /^https?:\/\//;

/** Finds referenced documents in the workspace and beside the bundled workflows. */
export function referenceFiles(packageFolder: string): ReferenceFinder {
  return {
    find: async (references, workspace) =>
      references.map((reference) => shown(reference, reference.resolveFrom === 'package' ? packageFolder : workspace)),
  };
}

/** A web address is used as it is. Nothing is fetched. */
function shown({ title, source, purpose, isAuthoritative }: Reference, folder: string | undefined): ShownReference {
  const path = isAbsolute(source) || WEB.test(source) || folder === undefined ? source : join(folder, source);
  const isResolved = WEB.test(source) || (isAbsolute(path) && isFile(path));
  return { title, path, purpose, isAuthoritative, isResolved };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
