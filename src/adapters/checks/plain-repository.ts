import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, isInside, readRegular } from '../guarded-file.ts';

const TEXT_BYTES_MAX = 64 * 1024;
const COMMIT = /^(?!0+$)[0-9a-f]{40}$/;
const ON_BRANCH = /^ref: (refs\/heads\/\w[\w./-]*)$/;
/** Names that git refuses, or that lead elsewhere. */
const ODD_NAME = /\.\.|\/\/|\/\.|[./]$|\.lock(?:\/|$)/;
/** Settings that change which folder a repository belongs to, where its settings are, or how it stores commits. */
const ODD_SETTING = /worktree|\bbare\b(?!\s*=\s*false\b)|\[\s*(?:include|extensions)/i;

/**
 * The top folder, the commit and the full name of the branch of a repository in its plainest form, as git says them.
 * `undefined` if only git can say: it has many more forms. Starting git takes as long as everything else in a start.
 */
export function plainHead(workspace: string, top: string): readonly [string, string, string] | undefined {
  try {
    const folder = join(top, '.git');
    if (!isPlain(folder, top) || !isWorkedIn(workspace, top)) return undefined;
    const head = textOf(join(folder, 'HEAD')) ?? '';
    if (COMMIT.test(head)) return [top, head, 'HEAD'];
    const branch = ON_BRANCH.exec(head)?.[1];
    if (branch === undefined || ODD_NAME.test(branch)) return undefined;
    const commit = textOf(join(folder, branch)) ?? '';
    return COMMIT.test(commit) ? [top, commit, branch] : undefined;
  } catch (cause) {
    if (errorCode(cause) === undefined) throw cause;
    return undefined;
  }
}

function isPlain(folder: string, top: string): boolean {
  // Git does not read a repository of another user.
  const owner = process.getuid?.();
  const stats = [top, folder, join(folder, 'objects'), join(folder, 'refs')].map((path) => lstatSync(path));
  if (owner === undefined || !stats.every((one) => one.isDirectory() && one.uid === owner)) return false;
  // The file system may have another spelling.
  if (realpathSync.native(top) !== top || existsSync(join(folder, 'commondir'))) return false;
  const settings = textOf(join(folder, 'config'));
  return settings !== undefined && !ODD_SETTING.test(settings);
}

/** Whether a folder belongs to the work tree: it may be part of the repository itself, or in another one without a tree. */
function isWorkedIn(workspace: string, top: string): boolean {
  if (!isInside(workspace, top) || isInside(workspace, join(top, '.git'))) return false;
  for (let at = workspace; at !== top; at = dirname(at)) if (existsSync(join(at, 'HEAD'))) return false;
  return true;
}

/** The whole text; `undefined` for a large file, and for a link: it can mean something else to git than its target. */
function textOf(path: string): string | undefined {
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size > TEXT_BYTES_MAX) return undefined;
  return readRegular(path, 0, TEXT_BYTES_MAX).toString('utf8').replace(/\n$/, '');
}
