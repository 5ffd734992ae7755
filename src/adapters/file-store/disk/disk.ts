import { randomBytes } from 'node:crypto';
import { basename, dirname, join, sep } from 'node:path';
import { Result, ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';

/** The data directory: a file system and the place in it. Paths given to it are relative. */
export type Disk = {
  readonly fs: FileSystem;
  readonly root: string;
};

/**
 * Makes a directory and sees to it that it is on the disk, with all above it up to the data directory. Who made one
 * before us may have died before it was flushed, so each is flushed once by every process.
 */
export async function ensureDir(disk: Disk, path: string): Promise<void> {
  const { unflushed, flushed } = dirsOf(disk);
  for (const made of disk.fs.makeDir(join(disk.root, path))) unflushed.add(made);
  for (const dir of [...unflushed, ...dirsDownTo(disk.root, path)]) {
    if (flushed.has(dir) && !unflushed.has(dir)) continue;
    await (dir === disk.root && !unflushed.has(dir)
      ? syncIfReadable(disk, dirname(dir))
      : disk.fs.syncDir(dirname(dir)));
    unflushed.delete(dir);
    flushed.add(dir);
  }
}

type Dirs = { readonly unflushed: Set<string>; readonly flushed: Set<string> };

/** What this process knows about the directories of a disk. */
const dirsByDisk = new WeakMap<Disk, Dirs>();

function dirsOf(disk: Disk): Dirs {
  const dirs = dirsByDisk.get(disk) ?? { unflushed: new Set(), flushed: new Set() };
  dirsByDisk.set(disk, dirs);
  return dirs;
}

function dirsDownTo(root: string, path: string): readonly string[] {
  const names = path.split(sep);
  return [root, ...names.map((_, i) => join(root, ...names.slice(0, i + 1)))];
}

/** A folder that we may not open is none that we could have made something in. */
async function syncIfReadable(disk: Disk, path: string): Promise<void> {
  try {
    await disk.fs.syncDir(path);
  } catch (cause) {
    if (codeOf(cause) !== 'EACCES') throw cause;
  }
}

/** Writes a whole file so that it is there entirely or not at all, whatever happens meanwhile. */
export async function putFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await put(disk, { path, bytes }, disk.fs.rename);
}

/** The same for a file that only one of several racing processes may make; the others leave it as it is. */
export async function putNewFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await put(disk, { path, bytes }, async (temp, target) => {
    await disk.fs.linkNew(temp, target);
    await disk.fs.remove(temp);
  });
}

async function put(
  disk: Disk,
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array },
  name: (temp: string, target: string) => Promise<void>,
): Promise<void> {
  const target = join(disk.root, path);
  const temp = join(dirname(target), `.${basename(target)}.${unusedNumber()}.tmp`);
  try {
    await writeTemp(disk, temp, bytes);
    await name(temp, target);
    await disk.fs.syncDir(dirname(target));
  } catch (cause) {
    // Every further try would leave one more behind, on a disk that may be full.
    await disk.fs.remove(temp).catch(() => undefined);
    throw cause;
  }
}

const processMark = randomBytes(6).toString('hex');
let numbersUsed = 0;

/** A hexadecimal number that nobody has used, in this process or another. */
function unusedNumber(): string {
  numbersUsed += 1;
  return `${processMark}${numbersUsed.toString(16)}`;
}

async function writeTemp(disk: Disk, temp: string, bytes: Uint8Array): Promise<void> {
  const file = await disk.fs.create(temp);
  try {
    await file.write(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Runs file access. What the system refuses becomes a failure; anything else is our own bug and flies on. */
export function accessing<Value>(
  operation: string,
  place: string,
  access: () => Promise<Value>,
): ResultAsync<Value, StoreFailure> {
  return ResultAsync.fromPromise(access(), (cause) => failureOf(operation, place, cause));
}

/** The same for reading, which does not wait. */
export function accessingNow<Value>(
  operation: string,
  place: string,
  access: () => Value,
): Result<Value, StoreFailure> {
  return Result.fromThrowable(access, (cause) => failureOf(operation, place, cause))();
}

function failureOf(operation: string, place: string, cause: unknown): StoreFailure {
  const code = codeOf(cause);
  if (code === undefined) throw cause;
  return { code: 'io_failed', operation, place, cause: code };
}

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error && 'code' in cause && typeof cause.code === 'string')) return undefined;
  // Such codes Node gives to wrong arguments and the like.
  return cause.code.startsWith('ERR_') ? undefined : cause.code;
}

/** A file that is open for writing. */
export type WritableFile = {
  /** Writes all of it at the end; fewer bytes than given is an error. */
  write(bytes: Uint8Array): Promise<void>;
  /** Returns once what was written is on the disk. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * The few operations that all access to the data directory goes through, so that a simulator can stand in for the
 * disk. Reading is synchronous: a thousand awaits cost more than a thousand small reads.
 */
export type FileSystem = {
  /** The content from an offset on; `undefined` when there is no such file. */
  read(path: string, from?: number): Uint8Array | undefined;
  size(path: string): number | undefined;
  /** When a file was last changed, in milliseconds; `undefined` when there is no such file. */
  modifiedMs(path: string): number | undefined;
  /** The permission bits of a file; `undefined` when there is no such file, or where the system has no such bits. */
  mode(path: string): number | undefined;
  /** Names in a directory, sorted; none when it is not there. */
  list(path: string): readonly string[];
  /** Makes a directory and those above it, for this user only. Returns those that were not there, topmost first. */
  makeDir(path: string): readonly string[];
  /** Opens a file that must not exist yet, for this user only. */
  create(path: string): Promise<WritableFile>;
  /** Opens a file to write at its end; makes it when it is not there. */
  openEnd(path: string): Promise<WritableFile>;
  /** Moves a file or a directory; a file that has the new name already is replaced at once. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name, unless that name is taken. */
  linkNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a directory with all that is in it. */
  removeTree(path: string): Promise<void>;
  /** Makes a file's time of change now. */
  touch(path: string): Promise<void>;
  /** Returns once the entries of a directory are on the disk. */
  syncDir(path: string): Promise<void>;
};
