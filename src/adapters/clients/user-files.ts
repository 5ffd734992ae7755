import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { access, mkdir, open, readFile, readlink, realpath, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok, ResultAsync } from 'neverthrow';
import { parse, TomlError } from 'smol-toml';
import type { FileAccessFailure, ParseToml, UserFiles } from '../../app/ports/machine.ts';
import { atExit } from '../at-exit.ts';
import { isMissing } from '../system-error.ts';

const OWN_FILE = 0o600;
const OWN_FOLDER = 0o700;
const WRITABLE = 0o222;
/** More links than any system follows. */
const LINKS_MAX = 40;

/** Files on this machine. */
export const nodeUserFiles: UserFiles = {
  read: async (path) => trying(path, () => readText(path)),
  exists: (path) =>
    access(path, constants.F_OK).then(
      () => true,
      () => false,
    ),
  put: async (path, text) =>
    (await isReadOnly(path))
      ? err({ code: 'file_failed', path, cause: 'it is read-only' })
      : trying(path, () => put(path, text)),
  remove: async (path) => trying(path, async () => rm(await throughLinks(path), { force: true })),
  removeEmpty: async (folders) => {
    // A folder that holds something else stays.
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined);
  },
};

function trying<Value>(path: string, work: () => Promise<Value>): ResultAsync<Value, FileAccessFailure> {
  return ResultAsync.fromPromise(work(), (cause) => ({ code: 'file_failed', path, cause: wordOf(cause) }));
}

function wordOf(cause: unknown): string {
  if (!(cause instanceof Error)) throw cause;
  if ('code' in cause && typeof cause.code === 'string') {
    return cause.code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'not UTF-8' : cause.code;
  }
  throw cause;
}

/** Decoded so that writing it again gives the same bytes, including a byte order mark. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
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
  return realpath(at).catch(() => at);
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
