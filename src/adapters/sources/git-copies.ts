import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { FetchedCopy, GitCopies, GitRefusal } from '../../app/ports/workflow-sources.ts';
import { parseJson } from '../../core/json/json-value.ts';
import type { GitSource } from '../../core/sources.ts';
import { atExit } from '../at-exit.ts';
import { readRegular } from '../guarded-file.ts';
import { causeOf } from './file-source-list.ts';

const GIT_MS_MAX = 60_000;
const SAID_MAX = 400;

/** A repository is untrusted: its hooks, submodules and links are not followed, and other transports are disabled. */
const SAFE = [
  ['core.hooksPath', '/dev/null'],
  ['core.symlinks', 'false'],
  ['core.fsmonitor', 'false'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['transfer.fsckObjects', 'true'],
  ['protocol.allow', 'never'],
  ['protocol.https.allow', 'always'],
  ['protocol.ssh.allow', 'always'],
  ['protocol.file.allow', 'always'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** The copy of a source at a commit. */
export function copyFolder(root: string, { name, commit }: Pick<GitSource, 'name' | 'commit'>): string {
  return join(root, `${name}@${commit}`);
}

function newDraft(root: string): Result<string, GitRefusal> {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    return ok(mkdtempSync(join(root, '.draft-')));
  } catch (cause) {
    return err({ code: 'source_list_unwritable', file: root, cause: causeOf(cause) });
  }
}

/** Copies are folders, one for each source and commit. A copy is complete or absent. */
export function gitCopies(root: string): GitCopies {
  const take = async (
    { name, url, ref }: Pick<GitSource, 'name' | 'url' | 'ref'>,
    { mustContain, wanted }: { readonly mustContain?: string; readonly wanted?: string } = {},
  ): Promise<Result<FetchedCopy, GitRefusal>> => {
    const made = newDraft(root);
    if (made.isErr()) return err(made.error);
    const draft = made.value;
    const clear = () => rmSync(draft, { recursive: true, force: true, maxRetries: 5 });
    const forget = atExit(clear);
    try {
      const branch = ref === undefined ? [] : [`--branch=${ref}`];
      const clone = ['clone', '--quiet', '--no-checkout', '--no-local', '--single-branch', '--no-recurse-submodules'];
      const cloned = await git(url, [...clone, '--template=', ...branch, '--', url, draft]);
      if (cloned.isErr()) return err(cloned.error);
      const head = await git(url, ['-C', draft, 'rev-parse', '--verify', '--quiet', `${wanted ?? 'HEAD'}^{commit}`]);
      if (head.isErr())
        return err(wanted === undefined ? head.error : { code: 'git_commit_missing', url, commit: wanted });
      const commit = head.value.trim();
      if (mustContain !== undefined && mustContain !== commit) {
        const follows = await git(url, ['-C', draft, 'merge-base', '--is-ancestor', mustContain, commit]);
        if (follows.isErr()) return err({ code: 'git_rewritten', name, url, from: mustContain, to: commit });
      }
      const place = copyFolder(root, { name, commit });
      const isNew = !existsSync(place);
      if (!isNew && isAsFetched(place)) return ok({ commit, isNew });
      const checkedOut = await git(url, ['-C', draft, 'checkout', '--quiet', '--detach', commit]);
      if (checkedOut.isErr()) return err(checkedOut.error);
      recordDigests(draft);
      rmSync(place, { recursive: true, force: true, maxRetries: 5 });
      renameSync(draft, place);
      return ok({ commit, isNew });
    } finally {
      clear();
      forget();
    }
  };
  return {
    fetch: (wanted) => take(wanted),
    fetchPinned: async (source) => {
      const place = copyFolder(root, source);
      if (existsSync(place) && isAsFetched(place)) return ok({ commit: source.commit });
      return take(source, { wanted: source.commit });
    },
    update: (source, { isForced }) => take(source, isForced ? {} : { mustContain: source.commit }),
    drop: async ({ name }, kept) => {
      const names = existsSync(root) ? readdirSync(root) : [];
      const gone = names.filter((entry) => entry.startsWith(`${name}@`) && entry !== `${name}@${kept}`);
      for (const entry of gone) rmSync(join(root, entry), { recursive: true, force: true });
    },
    discard: async (source) => rmSync(copyFolder(root, source), { recursive: true, force: true, maxRetries: 5 }),
    isRepository: (path) => {
      const has = (name: string) => existsSync(join(path, name));
      return has('.git') || (has('HEAD') && has('objects') && has('refs'));
    },
  };
}

/** The digests of files in a copy, by their path in it. */
export type CopyDigests = ReadonlyMap<string, string>;

const recordSchema = z.record(z.string(), z.string());

/** Where the digests of a copy are kept. A path in the repository cannot lead there. */
export function recordFile(copy: string): string {
  return join(copy, '.git', 'workrail-files.json');
}

/**
 * What the JSON files of a copy were when they were fetched. Converted line endings and filters are part of that, so
 * the commit alone does not say it. `undefined` if the copy is too old to have a record and git cannot compare it.
 */
export function fetchedDigests(copy: string): CopyDigests | undefined {
  const kept = readRecord(copy);
  if (kept !== undefined) return kept;
  try {
    const args = ['-C', copy, 'status', '--porcelain', '--ignored'];
    const changes = execFileSync('git', [...SAFE, ...args], { ...gitOptions(), stdio: ['ignore', 'pipe', 'ignore'] });
    return changes === '' ? recordDigests(copy) : new Map();
  } catch {
    return undefined;
  }
}

function readRecord(copy: string): CopyDigests | undefined {
  try {
    const record = recordSchema.safeParse(parseJson(readRegular(recordFile(copy)).toString()).unwrapOr(undefined));
    return record.success ? new Map(Object.entries(record.data)) : undefined;
  } catch {
    return undefined;
  }
}

function recordDigests(copy: string): CopyDigests {
  const digests = currentDigests(copy);
  writeFileSync(recordFile(copy), JSON.stringify(Object.fromEntries(digests)));
  return digests;
}

function isAsFetched(copy: string): boolean {
  const fetched = readRecord(copy);
  const current = currentDigests(copy);
  return fetched?.size === current.size && [...current].every(([path, digest]) => fetched.get(path) === digest);
}

/** The JSON files of a copy as they are now. */
function currentDigests(copy: string): CopyDigests {
  const digests = new Map<string, string>();
  const enter = (inner: string) => {
    for (const entry of readdirSync(join(copy, inner), { withFileTypes: true })) {
      const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
      if (entry.isDirectory() && path !== '.git') enter(path);
      if (entry.isFile() && path.endsWith('.json')) digests.set(path, contentDigest(readRegular(join(copy, path))));
    }
  };
  enter('');
  return digests;
}

export function contentDigest(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function gitOptions() {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, GIT_TEMPLATE_DIR: ____, ...env } = process.env;
  const quiet = { GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'https:ssh:file', GIT_LFS_SKIP_SMUDGE: '1' };
  return { env: { ...env, ...quiet }, timeout: GIT_MS_MAX, windowsHide: true, encoding: 'utf8' as const };
}

function git(url: string, args: readonly string[]): Promise<Result<string, GitRefusal>> {
  const options = gitOptions();
  return new Promise((resolve) => {
    const child = execFile('git', [...SAFE, ...args], options, (error, stdout, stderr) => {
      forget();
      if (error === null) resolve(ok(stdout));
      else if (error.code === 'ENOENT') resolve(err({ code: 'git_missing' }));
      else if (error.killed === true) resolve(err({ code: 'git_timeout', url, ms: GIT_MS_MAX }));
      else resolve(err({ code: 'git_failed', url, said: lastLine(stderr) }));
    });
    const forget = atExit(() => child.kill('SIGKILL'));
  });
}

function lastLine(said: string): string {
  const lines = said.trim().split('\n');
  return (lines.findLast((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? '').slice(0, SAID_MAX);
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
