import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm, truncate, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileSystem, WritableFile } from './file-system.ts';

const FOR_THIS_USER = { dir: 0o700, file: 0o600 };
const PERMISSION_BITS = 0o777;

export const nodeFileSystem: FileSystem = {
  read: (path, from = 0) => ifThere(() => readFrom(path, from)),
  size: (path) => ifThere(() => statSync(path).size),
  modifiedMs: (path) => ifThere(() => statSync(path).mtimeMs),
  // What Windows gives here says nothing about who may read.
  mode: (path) => (process.platform === 'win32' ? undefined : ifThere(() => statSync(path).mode & PERMISSION_BITS)),
  list: (path) => (ifThere(() => readdirSync(path)) ?? []).sort(),
  makeDir,
  create: async (path) => writable(path, await open(path, 'wx', FOR_THIS_USER.file)),
  openEnd: async (path) => writable(path, await open(path, 'a', FOR_THIS_USER.file)),
  rename,
  linkNew,
  remove: (path) => rm(path, { force: true }),
  removeTree: (path) => rm(path, { force: true, recursive: true }),
  touch: (path) => utimes(path, new Date(), new Date()),
  syncDir,
};

function readFrom(path: string, from: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(Math.max(0, fstatSync(file).size - from));
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

function makeDir(path: string): readonly string[] {
  const topmost = mkdirSync(path, { recursive: true, mode: FOR_THIS_USER.dir });
  if (topmost === undefined) return [];
  const made: string[] = [];
  for (let dir = path; dir.length >= topmost.length; dir = dirname(dir)) made.unshift(dir);
  return made;
}

function writable(path: string, file: FileHandle): WritableFile {
  return {
    write: async (bytes) => {
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten !== bytes.length) throw shortWrite(bytesWritten, bytes.length);
    },
    sync: () => file.sync(),
    // Not every system lets a file be cut off that was opened to be written at its end only.
    truncate: (size) => truncate(path, size),
    close: () => file.close(),
  };
}

/** Looks like a system error, because it is one that the system forgot to raise: the disk is full. */
function shortWrite(written: number, wanted: number): Error {
  return Object.assign(new Error(`wrote ${written} of ${wanted} bytes`), { code: 'ENOSPC' });
}

async function linkNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw cause;
  }
}

async function syncDir(path: string): Promise<void> {
  // Windows cannot open a directory; there the entries are written through by the file system itself.
  if (process.platform === 'win32') return;
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

function ifThere<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return undefined;
    throw cause;
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}
