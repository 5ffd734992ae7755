import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { Result, ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { FileSystem } from './file-system.ts';

/** The data directory: a file system and the place in it. Paths given to it are relative. */
export type Disk = {
  readonly fs: FileSystem;
  readonly root: string;
};

/** Makes a directory durable: its own entry, and that of every directory that had to be made above it. */
export async function ensureDir(disk: Disk, path: string): Promise<void> {
  for (const made of disk.fs.makeDir(join(disk.root, path))) await disk.fs.syncDir(dirname(made));
}

/** Writes a whole file so that it is there entirely or not at all, whatever happens meanwhile. */
export async function putFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const { target, temp } = await writeTemp(disk, path, bytes);
  await disk.fs.rename(temp, target);
  await disk.fs.syncDir(dirname(target));
}

/** The same for a file that only one of several racing processes may make; the others leave it as it is. */
export async function putNewFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const { target, temp } = await writeTemp(disk, path, bytes);
  await disk.fs.linkNew(temp, target);
  await disk.fs.remove(temp);
  await disk.fs.syncDir(dirname(target));
}

async function writeTemp(disk: Disk, path: string, bytes: Uint8Array): Promise<{ target: string; temp: string }> {
  const target = join(disk.root, path);
  const temp = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await disk.fs.create(temp);
  await file.write(bytes);
  await file.sync();
  await file.close();
  return { target, temp };
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
  if (!(cause instanceof Error) || !('code' in cause) || typeof cause.code !== 'string') throw cause;
  return { code: 'io_failed', operation, place, cause: cause.code };
}
