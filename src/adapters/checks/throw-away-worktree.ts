import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { BaseRefusal, BaseWork } from '../../app/ports/check-runner.ts';
import { atExit } from '../at-exit.ts';
import { gitEnvironment } from './read-tree.ts';

/** A large repository takes a while to check out. */
const GIT_MS_MAX = 120_000;
const GIT_BYTES_MAX = 64 * 1024 * 1024;
/** Hooks of the repository must not run for a throw-away worktree. */
const QUIET = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false'];

/** A worktree of the base with the tests of the work laid over it, which is removed afterwards. */
export async function withBase<Value>(
  base: BaseWork,
  act: (folder: string) => Promise<Value>,
): Promise<Result<Value, BaseRefusal>> {
  const { folder, sha } = base;
  const room = mkdtempSync(join(realpathSync(tmpdir()), 'workrail-base-'));
  const at = join(room, 'base');
  const remove = () => {
    try {
      execFileSync('git', ['-C', folder, 'worktree', 'remove', '--force', at], {
        stdio: 'ignore',
        env: gitEnvironment(),
      });
    } catch {
      // It was not made, or git no longer knows it.
    }
    rmSync(room, { recursive: true, force: true, maxRetries: 3 });
  };
  const cancel = atExit(remove);
  try {
    const made = await git(folder, [...QUIET, 'worktree', 'add', '--detach', '--force', at, sha]);
    if (made.isErr()) return err(made.error);
    const laid = await layTests(base, at);
    if (laid.isErr()) return err(laid.error);
    for (const name of base.link) linkFolder(folder, at, name);
    return ok(await act(at));
  } finally {
    remove();
    cancel();
  }
}

/** Replaces the tests of the base by those of the work, also where the work removed one. */
async function layTests({ folder, tests }: BaseWork, at: string): Promise<Result<void, BaseRefusal>> {
  const patterns = tests.map((pattern) => `:(glob)${pattern}`);
  const own = await git(folder, ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns]);
  if (own.isErr()) return err(own.error);
  const old = await git(at, ['ls-files', '-z', '--', ...patterns]);
  if (old.isErr()) return err(old.error);
  const files = [...new Set(paths(own.value))].filter((path) => isThere(join(folder, path)));
  if (files.length === 0) return err(unavailable(`no file matches ${tests.join(', ')}`));
  for (const path of paths(old.value)) rmSync(join(at, path), { recursive: true, force: true });
  for (const path of files) {
    const target = join(at, path);
    mkdirSync(dirname(target), { recursive: true });
    // The base may have a link where the work has a folder.
    if (!`${realpathSync(dirname(target))}${sep}`.startsWith(`${at}${sep}`)) {
      return err(unavailable(`${path} leads out of the base`));
    }
    cpSync(join(folder, path), target, { force: true, verbatimSymlinks: true });
  }
  return ok(undefined);
}

function paths(listed: string): readonly string[] {
  return listed.split('\0').filter((path) => path !== '');
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Installed packages are not part of a commit. */
function linkFolder(folder: string, at: string, name: string): void {
  const from = join(folder, name);
  const to = join(at, name);
  if (!existsSync(from) || isThere(to) || !existsSync(dirname(to))) return;
  symlinkSync(from, to, 'junction');
}

function git(folder: string, args: readonly string[]): Promise<Result<string, BaseRefusal>> {
  return new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, ...args],
      { env: gitEnvironment(), timeout: GIT_MS_MAX, maxBuffer: GIT_BYTES_MAX, windowsHide: true },
      (failure, output, errors) =>
        resolve(failure === null ? ok(output) : err(unavailable(errors.trim().split('\n').at(-1) ?? failure.message))),
    );
  });
}

function unavailable(cause: string): BaseRefusal {
  return { code: 'base_unavailable', cause };
}
