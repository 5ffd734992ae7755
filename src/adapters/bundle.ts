import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, rmSync } from 'node:fs';
import { type FileHandle, link, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { err, ok, Result, ResultAsync } from 'neverthrow';
import type { BundleOutput, InputFailure, OutputFailure, OutputOptions } from '../app/ports/bundle-output.ts';
import { BUNDLE_BYTES_MAX } from '../core/bundle/bundle-document.ts';
import type { BundleTools } from '../core/bundle/bundle-tools.ts';
import type { ParsedJson } from '../core/json/canonical-json.ts';
import { atExit } from './at-exit.ts';
import { digestOf } from './file-store/content/content-files.ts';
import { nodeHasher } from './system.ts';

/** The content of a file. A file that is larger than any bundle is not read. */
export async function readBundleFile(path: string): Promise<Result<Uint8Array, InputFailure>> {
  // Editors on Windows write it, and it belongs to no text.
  return (await readFileExactly(path)).map((bytes) =>
    BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length)) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes,
  );
}

/** Every byte of a file, for formats that count only byte for byte. */
export async function readFileExactly(path: string): Promise<Result<Uint8Array, InputFailure>> {
  const failed = (cause: unknown): InputFailure => ({ code: 'input_failed', place: path, cause: codeOf(cause) });
  // Without this flag, opening a pipe waits for somebody who writes to it.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const opened = await ResultAsync.fromPromise(open(path, flags), failed);
  if (opened.isErr()) return err(opened.error);
  const read = await ResultAsync.fromPromise(readWhole(opened.value), failed);
  await opened.value.close();
  return read.andThen((content): Result<Uint8Array, InputFailure> => {
    if (typeof content === 'string') return err({ code: 'input_failed', place: path, cause: content });
    if (typeof content !== 'number') return ok(content);
    return err({ code: 'input_too_large', place: path, size: content, max: BUNDLE_BYTES_MAX });
  });
}

/** The size instead of the bytes if it is too large, or what is wrong with the file: a pipe or a device may have no end. */
async function readWhole(file: FileHandle): Promise<Uint8Array | number | string> {
  const status = await file.stat();
  if (status.size > BUNDLE_BYTES_MAX) return status.size;
  if (!status.isFile()) return status.isDirectory() ? 'it is a folder' : 'it is not a regular file';
  const bytes = Buffer.allocUnsafe(status.size);
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * Writes a file that only this user may read and that appears under its name once it is finished. A pipe or a device is
 * written to directly.
 */
export async function createBundleFile(
  path: string,
  { mayReplace }: OutputOptions,
): Promise<Result<BundleOutput, OutputFailure>> {
  const failed = (cause: unknown): OutputFailure => ({ code: 'output_failed', place: path, cause: codeOf(cause) });
  const trying: Trying = (work) => ResultAsync.fromPromise(work, failed);
  if (!mayReplace && (await isTaken(path))) return err({ code: 'output_exists', place: path });
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return writeThrough(path, trying);
  // A link stays, and its target is replaced.
  const target = there === undefined ? path : await realpath(path);
  // A link fails if somebody made the file meanwhile, where a rename would replace it.
  const name = async (temp: string) => {
    if (mayReplace) return rename(temp, target);
    await link(temp, target);
    return rm(temp, { force: true });
  };
  return writeBeside(target, trying, name);
}

/** Whether a file or a link has the name. A pipe or a device may be written to. */
async function isTaken(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return false;
  const target = await stat(path).catch(() => undefined);
  return target === undefined || target.isFile();
}

type Trying = <Value>(work: Promise<Value>) => ResultAsync<Value, OutputFailure>;

/** What was written to a pipe or a device cannot be undone. */
async function writeThrough(path: string, trying: Trying): Promise<Result<BundleOutput, OutputFailure>> {
  const opened = await trying(open(path, 'w'));
  return opened.map((file) => ({
    write: async (bytes) => trying(file.writeFile(bytes)),
    finish: async () => trying(file.close()),
    abandon: async () => file.close().catch(() => undefined),
  }));
}

async function writeBeside(
  path: string,
  trying: Trying,
  name: (temp: string) => Promise<void>,
): Promise<Result<BundleOutput, OutputFailure>> {
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
          .then(() => name(temp)),
      );
      if (finished.isErr()) await abandon();
      forget();
      return finished;
    },
    abandon,
  });
}

/** Writes to a stream, no faster than its reader reads. This cannot be undone. */
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const RESERVED_NAME = '__proto__';

const parseText = Result.fromThrowable(
  (bytes: Uint8Array): ParsedJson => {
    const text = utf8.decode(bytes);
    return { text, value: JSON.parse(text), bytes };
  },
  () => 'not_json' as const,
);

function parseUnreserved(bytes: Uint8Array): Result<ParsedJson, 'not_json' | 'reserved_name'> {
  const parsed = parseText(bytes);
  if (parsed.isErr()) return err(parsed.error);
  const { text, value } = parsed.value;
  const mayBeNamed = text.includes(RESERVED_NAME) || text.includes('\\u');
  return mayBeNamed && hasName(value, RESERVED_NAME) ? err('reserved_name') : parsed;
}

/** The nesting depth was checked before. */
function hasName(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, name) || Object.values(value).some((inner) => hasName(inner, name));
}

export const nodeBundleTools: BundleTools = {
  sha256: nodeHasher.sha256,
  digestOf,
  runningSha256: () => {
    const hash = createHash('sha256');
    return { add: (bytes) => void hash.update(bytes), digest: () => `sha256:${hash.digest('hex')}` };
  },
  parseJson: (bytes) => parseUnreserved(bytes).map(({ value }) => value),
  parseText: parseUnreserved,
  toBase64: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  fromBase64: (text) => {
    const bytes = Buffer.from(text, 'base64');
    // Node skips characters that are not base64, and accepts several spellings of the same bytes.
    return bytes.toString('base64') === text ? new Uint8Array(bytes) : undefined;
  },
};
