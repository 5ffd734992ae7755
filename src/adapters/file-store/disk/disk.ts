import { randomBytes } from 'node:crypto';
import { basename, dirname, join, sep } from 'node:path';
import { Result, ResultAsync } from 'neverthrow';
import { type StoreFailure, WRONG_KIND } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { digestHex } from '../../../core/json/canonical-json.ts';
import type { ArtifactDigest, RunId, SessionId, SnapshotRef, WorkflowHash } from '../../../core/log/ids.ts';
import { errorCode } from '../../guarded-file.ts';

/** The data directory: a file system and a place in it. Paths given to it are relative. */
export type Disk = {
  readonly fs: FileSystem;
  readonly root: string;
};

/**
 * Creates a directory and flushes it, with all above it up to the data directory. A process that created one earlier
 * may have died before flushing it, so every process flushes each directory once.
 */
export async function ensureDir(disk: Disk, path: string): Promise<void> {
  const { unflushed, flushed } = dirsOf(disk);
  const target = join(disk.root, path);
  for (const made of disk.fs.makeDir(target)) unflushed.add(made);
  // A directory is flushed after all above it.
  if (unflushed.size === 0 && flushed.has(target)) return;
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

/** What this process knows about the directories of each disk. */
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

/** We cannot have created anything in a folder that we may not open. */
async function syncIfReadable(disk: Disk, path: string): Promise<void> {
  try {
    await disk.fs.syncDir(path);
  } catch (cause) {
    if (errorCode(cause) !== 'EACCES') throw cause;
  }
}

/** Writes a whole file atomically: after a crash it is there completely or not at all. */
export async function putFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await put(disk, { path, bytes }, disk.fs.rename);
}

/** Writes a file that only one of several racing processes may create. The others leave it as it is. */
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
  const temp = tempBeside(target);
  try {
    await writeTemp(disk, temp, bytes);
    await name(temp, target);
    await disk.fs.syncDir(dirname(target));
  } catch (cause) {
    // Otherwise every retry would leave one more file, on a disk that may be full.
    await disk.fs.remove(temp).catch(() => undefined);
    throw cause;
  }
}

const processMark = randomBytes(6).toString('hex');
let numbersUsed = 0;

/** A hexadecimal number that no process has used before. */
export function unusedNumber(): string {
  numbersUsed += 1;
  return `${processMark}${numbersUsed.toString(16)}`;
}

/** A name beside a file under which it can be written. */
export function tempBeside(target: string): string {
  return join(dirname(target), `.${basename(target)}.${unusedNumber()}.tmp`);
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

/** Younger files may belong to an append that is running or still to come: a workflow is stored before its run starts. */
const YOUNG_MS = 60 * 60 * 1_000;

/** Old enough that no append is about to need it. */
export function isOld({ fs, root }: Disk, path: string, nowMs: number): boolean {
  const modifiedMs = fs.modifiedMs(join(root, path));
  return modifiedMs !== undefined && nowMs - modifiedMs >= YOUNG_MS;
}

/** Runs file access. A refusal of the operating system becomes a failure; any other error is a bug and is rethrown. */
export function accessing<Value>(
  operation: string,
  place: string,
  access: () => Promise<Value>,
): ResultAsync<Value, StoreFailure> {
  return ResultAsync.fromPromise(access(), (cause) => failureOf(operation, place, cause));
}

/** The same for synchronous reads. */
export function accessingNow<Value>(
  operation: string,
  place: string,
  access: () => Value,
): Result<Value, StoreFailure> {
  return Result.fromThrowable(access, (cause) => failureOf(operation, place, cause))();
}

function failureOf(operation: string, place: string, cause: unknown): StoreFailure {
  const code = errorCode(cause);
  if (code === undefined) throw cause;
  return { code: 'io_failed', operation, place, cause: code };
}

/** Whether a folder, a pipe or the like is in the place of a file. */
export function isWrongKind(failure: StoreFailure): boolean {
  return failure.code === 'io_failed' && failure.cause !== 'ENOTDIR' && WRONG_KIND[failure.cause] !== undefined;
}

/** The content of a file that was complete once. Something else in its place counts as an empty file. */
export function readIfFile({ fs, root }: Disk, place: string): Uint8Array | undefined {
  try {
    return fs.read(join(root, place));
  } catch (cause) {
    if (isWrongKind(failureOf('read', place, cause))) return new Uint8Array();
    throw cause;
  }
}

export type WritableFile = {
  /** Appends all bytes; a short write is an error. */
  write(bytes: Uint8Array): Promise<void>;
  /** Returns once everything written is on the disk. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * All operations on the data directory, so that a simulator can replace the disk. Reads are synchronous: a thousand
 * awaits cost more than a thousand small reads.
 */
export type FileSystem = {
  /** The content from an offset on, at most so many bytes; `undefined` if the file does not exist. */
  read(path: string, from?: number, bytesMax?: number): Uint8Array | undefined;
  size(path: string): number | undefined;
  /** The modification time in milliseconds; `undefined` if the file does not exist. */
  modifiedMs(path: string): number | undefined;
  /** Changes whenever a file is written, replaced or renamed; `undefined` if the file does not exist. */
  version(path: string): string | undefined;
  /** The permission bits; `undefined` if the file does not exist or the system has no such bits. */
  mode(path: string): number | undefined;
  /** Names in a directory, sorted; empty if it does not exist. */
  list(path: string): readonly string[];
  /** Creates a directory and its parents, for this user only. Returns those that are new, topmost first. */
  makeDir(path: string): readonly string[];
  /** Creates a file that must not exist yet, for this user only. */
  create(path: string): Promise<WritableFile>;
  /** Opens a file for appending; creates it if it does not exist. */
  openEnd(path: string): Promise<WritableFile>;
  /** Renames a file or a directory. An existing file of the new name is replaced atomically. */
  rename(from: string, to: string): Promise<void>;
  /** Links a file under a second name, unless that name is taken. */
  linkNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a directory and its content. */
  removeTree(path: string): Promise<void>;
  /** Sets a file's modification time to now. */
  touch(path: string): Promise<void>;
  /** Returns once everything that any process wrote to a file is on the disk. Never writes itself. Windows refuses it. */
  syncFile(path: string): Promise<void>;
  /** Returns once the entries of a directory are on the disk. */
  syncDir(path: string): Promise<void>;
};

/** The file in a session's folder whose modification time is when the session was imported or restored from the bin. */
export const ARRIVED = 'arrived';

/** Every path relative to the data directory. Ids are checked again here, so that none can climb out. */
export const layout = {
  sessions: 'sessions',
  session: (id: SessionId) => join('sessions', plain(id)),
  events: (id: SessionId) => join('sessions', plain(id), 'events'),
  manifest: (id: SessionId) => join('sessions', plain(id), 'manifest.jsonl'),
  keep: (id: SessionId) => join('sessions', plain(id), 'keep'),
  /** Holds one file for each closed run. */
  closed: (id: SessionId) => join('sessions', plain(id), 'closed'),
  closedRun: (id: SessionId, runId: RunId) => join('sessions', plain(id), 'closed', plain(runId)),
  /** Where a session comes from that was not started here. */
  origin: (id: SessionId) => join('sessions', plain(id), 'origin'),
  /** Names that change with the marks of sessions. */
  markVersions: join('sessions', '.marks'),
  markVersion: (id: SessionId, version: string) => join('sessions', '.marks', `${plain(id)}.${plain(version)}`),
  /** Exists while a session is only part of one. */
  salvaged: (id: SessionId) => join('sessions', plain(id), 'salvaged'),
  lock: (id: SessionId) => join('sessions', plain(id), '.lock'),
  snapshots: 'snapshots',
  snapshot: (ref: SnapshotRef) => join('snapshots', `${plain(digestHex(ref))}.json`),
  artifacts: 'artifacts',
  artifact: (digest: ArtifactDigest) => join('artifacts', plain(digestHex(digest))),
  pinnedWorkflows: join('workflows', 'pinned'),
  pinnedWorkflow: (hash: WorkflowHash) => join('workflows', 'pinned', `${plain(digestHex(hash))}.json`),
  cache: 'cache',
  sessionIndex: join('cache', 'sessions.jsonl'),
  /** What was added on a day, by all processes. */
  growth: (day: string) => join('cache', `growth-${day}`),
  /** Shared by every appender, held exclusively by collection. */
  storeLock: '.lock',
  keys: 'keys',
  keyring: join('keys', 'keyring.json'),
  /** Held while keys are rotated. */
  keyringLock: join('keys', '.lock'),
};

/** The types already ensure this, but a wrong cast must not reach the disk. */
function plain(name: string): string {
  assert(/^[0-9a-z_]+$/.test(name), `${JSON.stringify(name)} is not a valid file name`);
  return name;
}
