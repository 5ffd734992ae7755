import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { BundleOutput, OutputFailure } from '../app/ports/bundle-output.ts';
import { BUNDLE_BYTES_MAX } from '../core/bundle/bundle-limits.ts';
import { atExit } from './at-exit.ts';

export type InputFailure =
  | { readonly code: 'input_failed'; readonly place: string; readonly cause: string }
  | { readonly code: 'input_too_large'; readonly place: string; readonly size: number; readonly max: number };

/** All of a file, unless it is larger than any bundle: then nothing of it is read. */
export async function readBundleFile(path: string): Promise<Result<Uint8Array, InputFailure>> {
  const failed = (cause: unknown): InputFailure => ({ code: 'input_failed', place: path, cause: codeOf(cause) });
  const opened = await ResultAsync.fromPromise(open(path, 'r'), failed);
  if (opened.isErr()) return err(opened.error);
  const read = await ResultAsync.fromPromise(readWhole(opened.value), failed);
  await opened.value.close();
  return read.andThen((content): Result<Uint8Array, InputFailure> => {
    if (typeof content !== 'number') return ok(content);
    return err({ code: 'input_too_large', place: path, size: content, max: BUNDLE_BYTES_MAX });
  });
}

/** Its size instead of its bytes when it is too large. What has no size, like a pipe, is read up to the limit. */
async function readWhole(file: FileHandle): Promise<Uint8Array | number> {
  const status = await file.stat();
  if (status.size > BUNDLE_BYTES_MAX) return status.size;
  if (!status.isFile()) return readStream(file);
  const bytes = Buffer.allocUnsafe(status.size);
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

async function readStream(file: FileHandle): Promise<Uint8Array | number> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of file.createReadStream({ autoClose: false })) {
    pieces.push(piece);
    size += piece.length;
    if (size > BUNDLE_BYTES_MAX) return size;
  }
  return Buffer.concat(pieces);
}

/**
 * Writes a file that is there under its name once it is finished, and not before; only this user may read it. What is
 * no file, like a pipe or a device, stays what it is and is written to.
 */
export async function createBundleFile(path: string): Promise<Result<BundleOutput, OutputFailure>> {
  const failed = (cause: unknown): OutputFailure => ({ code: 'output_failed', place: path, cause: codeOf(cause) });
  const trying: Trying = (work) => ResultAsync.fromPromise(work, failed);
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return writeThrough(path, trying);
  // A link stays, too: what it leads to is written anew.
  return writeBeside(there === undefined ? path : await realpath(path), trying);
}

type Trying = <Value>(work: Promise<Value>) => ResultAsync<Value, OutputFailure>;

/** What was written to a pipe or a device is not taken back. */
async function writeThrough(path: string, trying: Trying): Promise<Result<BundleOutput, OutputFailure>> {
  const opened = await trying(open(path, 'w'));
  return opened.map((file) => ({
    write: async (bytes) => trying(file.writeFile(bytes)),
    finish: async () => trying(file.close()),
    abandon: async () => file.close().catch(() => undefined),
  }));
}

async function writeBeside(path: string, trying: Trying): Promise<Result<BundleOutput, OutputFailure>> {
  const temp = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const forget = atExit(() => rmSync(temp, { force: true }));
  const opened = await trying(open(temp, 'wx', 0o600));
  if (opened.isErr()) {
    forget();
    return err(opened.error);
  }
  const file = opened.value;
  const abandon = async () => {
    await file.close().catch(() => undefined);
    await rm(temp, { force: true }).catch(() => undefined);
    forget();
  };
  return ok({
    write: async (bytes) => trying(file.writeFile(bytes)),
    finish: async () => {
      const finished = await trying(
        file
          .sync()
          .then(() => file.close())
          .then(() => rename(temp, path)),
      );
      if (finished.isErr()) await abandon();
      forget();
      return finished;
    },
    abandon,
  });
}

/** Writes to a stream that others read, no faster than they do. What they have is not taken back. */
export function streamOutput(stream: NodeJS.WriteStream): BundleOutput {
  return {
    write: async (bytes) => {
      if (!stream.write(bytes)) await once(stream, 'drain');
      return ok(undefined);
    },
    finish: async () => ok(undefined),
    abandon: async () => undefined,
  };
}

function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  throw cause;
}
