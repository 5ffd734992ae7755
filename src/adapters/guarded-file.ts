import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { err, ok, type Result } from 'neverthrow';

/** A file that does not answer in this time is on a broken network drive. */
const READ_MS_MAX = 2_000;

export type GuardedRead = {
  /** A larger file is not read. */
  readonly bytesMax: number;
  /** A link must not lead out of this folder. */
  readonly within?: string;
};

/** Why a file was not read, as words that follow "cannot be read". */
export type GuardedFailure = { readonly cause: string };

type Files = { readonly open: typeof open; readonly realpath: typeof realpath };

/**
 * Reads a file that a cloned repository or another program controls, so it may be anything: a device without an end, a
 * pipe that nobody writes to, a link to a private file. `undefined` if nothing is there.
 */
export async function readGuarded(
  path: string,
  how: GuardedRead,
  files: Files = { open, realpath },
): Promise<Result<Uint8Array | undefined, GuardedFailure>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result<never, GuardedFailure>>((done) => {
    timer = setTimeout(() => done(err({ cause: `no answer in ${READ_MS_MAX / 1_000} seconds` })), READ_MS_MAX);
  });
  return Promise.race([readNow(path, how, files), late]).finally(() => clearTimeout(timer));
}

async function readNow(
  path: string,
  { bytesMax, within }: GuardedRead,
  files: Files,
): Promise<Result<Uint8Array | undefined, GuardedFailure>> {
  let file: FileHandle | undefined;
  try {
    const outside = within === undefined ? undefined : await targetOutside(path, within, files);
    if (outside !== undefined) return err({ cause: `it is a link to ${outside}, outside of the project` });
    file = await files.open(path, constants.O_RDONLY | NO_WAITING);
    const stats = await file.stat();
    const trouble = troubleWith(stats, bytesMax);
    return trouble === undefined ? await readUpTo(file, bytesMax) : err({ cause: trouble });
  } catch (cause) {
    if (isMissing(cause)) return ok(undefined);
    const code = errorCode(cause);
    if (code === undefined) throw cause;
    return err({ cause: code });
  } finally {
    await file?.close();
  }
}

/** The target of a link that leads out of a folder. */
async function targetOutside(path: string, within: string, files: Files): Promise<string | undefined> {
  const [target, root] = [await files.realpath(path), await files.realpath(within)];
  return isInside(target, root) ? undefined : target;
}

/** Whether a path without links is a folder or inside it. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function troubleWith(stats: Stats, bytesMax: number): string | undefined {
  if (stats.isDirectory()) return 'it is a folder';
  if (!stats.isFile()) return 'it is not a regular file';
  return stats.size > bytesMax ? tooLarge(bytesMax) : undefined;
}

function tooLarge(bytesMax: number): string {
  return `it is larger than ${bytesMax / 2 ** 20} MiB`;
}

/** Some files of the system have a size of 0 and never end, so the size alone is not trusted. */
async function readUpTo(file: FileHandle, bytesMax: number): Promise<Result<Uint8Array, GuardedFailure>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(65_536), 0, 65_536);
    if (bytesRead === 0) return ok(Buffer.concat(pieces));
    size += bytesRead;
    if (size > bytesMax) return err({ cause: tooLarge(bytesMax) });
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

/** Without this flag, opening a pipe waits for a process at its other end. */
const NO_WAITING = constants.O_NONBLOCK ?? 0;
/** No file of ours is larger, and a larger one would not fit into memory. */
const OWN_BYTES_MAX = 2 ** 30;

/** Opens a file of our own. What is in its place may be anything; only a regular file is opened. */
export function openRegular(path: string, flags: number, mode?: number): number {
  const file = openSync(path, flags | NO_WAITING, mode);
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size <= OWN_BYTES_MAX) return file;
  closeSync(file);
  const code = stats.isDirectory() ? 'EISDIR' : stats.isFile() ? 'EFBIG' : 'EFTYPE';
  // Systems with the last code raise it themselves.
  throw Object.assign(new Error(`${code}: ${path} is not a regular file, or too large`), { code });
}

/** Reads a file of our own from an offset on, at most so many bytes. */
export function readRegular(path: string, from = 0, bytesMax = OWN_BYTES_MAX): Buffer {
  const file = openRegular(path, constants.O_RDONLY);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(bytesMax, Math.max(0, fstatSync(file).size - from)));
    let read = 0;
    while (read < bytes.length) {
      const count = readSync(file, bytes, read, bytes.length - read, from + read);
      if (count === 0) break;
      read += count;
    }
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/** The code of an error of the operating system, such as `ENOENT`; `undefined` for any other error. */
export function errorCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error && 'code' in cause && typeof cause.code === 'string')) return undefined;
  // Node uses such codes for wrong arguments and the like.
  return cause.code.startsWith('ERR_') ? undefined : cause.code;
}

/** Whether the error says that a file or a folder on its path does not exist. */
export function isMissing(cause: unknown): boolean {
  const code = errorCode(cause);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The result of file access; `undefined` if the file does not exist. */
export function ifExists<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw cause;
  }
}

/** Keeps what can be made again. Nothing is flushed and no failure is reported. */
export function putCached(path: string, bytes: Uint8Array): void {
  const draft = `${path}.${process.pid}.tmp`;
  const isPut = quietly(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, bytes, { mode: 0o600 });
    renameSync(draft, path);
  });
  if (!isPut) quietly(() => rmSync(draft, { force: true }));
}

export function readCached(path: string): Buffer | undefined {
  try {
    return readRegular(path);
  } catch {
    return undefined;
  }
}

/** Halves a folder of cached files that has too many. Another process may be doing the same. */
export function removeOldest(folder: string, filesMax: number): void {
  quietly(() => {
    const names = readdirSync(folder);
    if (names.length <= filesMax) return;
    const byAge = names
      .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
      .sort((a, b) => b.at - a.at);
    for (const { path } of byAge.slice(filesMax / 2)) rmSync(path, { force: true });
  });
}

/** True if file access succeeded, for callers that do not need the cause of a failure. */
export function quietly(access: () => void): boolean {
  try {
    access();
    return true;
  } catch {
    return false;
  }
}

/** Whether a file is at a path, or at the end of a link there. */
export function isFile(path: string): boolean {
  return statsAt(path)?.isFile() === true;
}

export function isFolder(path: string): boolean {
  return statsAt(path)?.isDirectory() === true;
}

function statsAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Another file is where its folder was, or links lead in a circle.
    return undefined;
  }
}
