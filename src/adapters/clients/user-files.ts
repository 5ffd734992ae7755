import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { access, mkdir, open, readlink, realpath, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { parse, TomlError } from 'smol-toml';
import type { FileAccessFailure, Machine, ParseToml, UserFiles } from '../../app/ports/machine.ts';
import { atExit } from '../at-exit.ts';
import { errorCode, isInside, readGuarded } from '../guarded-file.ts';

const OWN_FILE = 0o600;
const OWN_FOLDER = 0o700;
const WRITABLE = 0o222;
/** More links than any system follows. */
const LINKS_MAX = 40;

/** Clients keep histories in their settings, so these files can be large. */
const BYTES_MAX = 64 * 2 ** 20;

/**
 * Files on this machine. Links of the user may lead anywhere; those of the project, which may be a clone, must not lead
 * out of it.
 */
export function nodeUserFiles({ home, workspace }: Pick<Machine, 'home' | 'workspace'>): UserFiles {
  const isProject = (path: string) => isInside(path, workspace) && !isInside(home, workspace);
  const outside = async (path: string) => {
    if (!isProject(path)) return undefined;
    const [target, root] = [await throughLinks(path), await throughLinks(workspace)];
    const cause = `it is a link to ${target}, outside of the project`;
    return isInside(target, root) ? undefined : err({ code: 'file_failed' as const, path, cause });
  };
  return {
    read: async (path) => {
      const read = await readGuarded(path, { bytesMax: BYTES_MAX, ...(isProject(path) && { within: workspace }) });
      return read.mapErr(({ cause }) => failed(path, cause)).andThen((bytes) => textOf(path, bytes));
    },
    exists: (path) =>
      access(path, constants.F_OK).then(
        () => true,
        () => false,
      ),
    put: async (path, text) => {
      if (await isReadOnly(path)) return err(failed(path, 'it is read-only'));
      return (await outside(path)) ?? trying(path, () => put(path, text));
    },
    remove: async (path) =>
      (await outside(path)) ?? trying(path, async () => rm(await throughLinks(path), { force: true })),
    removeEmpty: async (folders) => {
      // A folder that holds something else stays.
      for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined);
    },
  };
}

function failed(path: string, cause: string): FileAccessFailure {
  return { code: 'file_failed', path, cause };
}

/** Decoded so that writing it again gives the same bytes, including a byte order mark. */
function textOf(path: string, bytes: Uint8Array | undefined): Result<string | undefined, FileAccessFailure> {
  if (bytes === undefined) return ok(undefined);
  try {
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return err(failed(path, 'not UTF-8'));
  }
}

function trying<Value>(path: string, work: () => Promise<Value>): ResultAsync<Value, FileAccessFailure> {
  return ResultAsync.fromPromise(work(), (cause) => failed(path, codeOf(cause)));
}

function codeOf(cause: unknown): string {
  const code = errorCode(cause);
  if (code === undefined) throw cause;
  return code;
}

/** A rename would replace a read-only file too, but its owner does not want that. */
function isReadOnly(path: string): Promise<boolean> {
  return stat(path).then(
    ({ mode }) => (mode & WRITABLE) === 0,
    () => false,
  );
}

async function put(path: string, text: string): Promise<readonly string[]> {
  const target = await throughLinks(path);
  const made = await makeFolder(dirname(target));
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => OWN_FILE,
  );
  const temp = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  const forget = atExit(() => rmSync(temp, { force: true }));
  try {
    const file = await open(temp, 'wx', mode);
    try {
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temp, target);
  } catch (cause) {
    await unlink(temp).catch(() => undefined);
    throw cause;
  } finally {
    forget();
  }
  return made;
}

/**
 * Users may keep such files in a repository and link to them. The link stays, and its target is written or removed,
 * even if it does not exist yet.
 */
async function throughLinks(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < LINKS_MAX; links++) {
    const link = await readlink(at).catch(() => undefined);
    if (link === undefined) break;
    at = resolve(await realpath(dirname(at)), link);
  }
  return realPlace(at);
}

/** The path without links; the last parts need not exist. */
async function realPlace(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || dirname(path) === path) return found ?? path;
  return join(await realPlace(dirname(path)), basename(path));
}

/** Returns the folders that were created, topmost first. */
async function makeFolder(folder: string): Promise<readonly string[]> {
  const first = await mkdir(folder, { recursive: true, mode: OWN_FOLDER });
  const made: string[] = [];
  for (let at = folder; first !== undefined && at.startsWith(first); at = dirname(at)) made.unshift(at);
  return made;
}

/** Parses TOML with a library that throws. */
export const parseToml: ParseToml = (text) => {
  try {
    return ok(parse(text.replace(/^\uFEFF/, '')));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [first = ''] = cause.message.split('\n');
    return err({ line: cause.line, problem: `not valid TOML (${first.replace(/^Invalid TOML document: /, '')})` });
  }
};
