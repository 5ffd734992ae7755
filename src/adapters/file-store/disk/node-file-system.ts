import {
  closeSync,
  constants,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, ifExists, openRegular, readRegular } from '../../guarded-file.ts';
import type { FileSystem, WritableFile } from './disk.ts';

const FOR_THIS_USER = { dir: 0o700, file: 0o600 };
const PERMISSION_BITS = 0o777;
const TO_APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
/** Creating an error only to catch it costs more than the call itself. */
const IF_THERE = { throwIfNoEntry: false } as const;

const flush = promisify(fsync);

/**
 * Only flushes and tree removals are asynchronous: handing any other operation to another thread takes several times as
 * long as the operation itself.
 */
export const nodeFileSystem: FileSystem = {
  read: (path, from, bytesMax) => ifExists(() => readRegular(path, from, bytesMax)),
  size: (path) => statSync(path, IF_THERE)?.size,
  modifiedMs: (path) => statSync(path, IF_THERE)?.mtimeMs,
  version: versionOf,
  // On Windows these bits say nothing about who may read.
  mode: (path) => (process.platform === 'win32' ? undefined : modeOf(path)),
  list: (path) => (statSync(path, IF_THERE) && ifExists(() => readdirSync(path)))?.sort() ?? [],
  makeDir,
  create: async (path) => writable(path, openSync(path, 'wx', FOR_THIS_USER.file)),
  openEnd: async (path) => writable(path, openRegular(path, TO_APPEND, FOR_THIS_USER.file)),
  rename: async (from, to) => renameSync(from, to),
  linkNew: async (from, to) => linkNew(from, to),
  remove: (path) => rm(path, { force: true }),
  removeTree: (path) => rm(path, { force: true, recursive: true }),
  touch: async (path) => utimesSync(path, new Date(), new Date()),
  syncFile: async (path) => flushed(openRegular(path, constants.O_RDONLY)),
  // Windows cannot open a directory. There, the file system writes entries through by itself.
  syncDir: async (path) => (process.platform === 'win32' ? undefined : flushed(openSync(path, 'r'))),
};

/** The time of the last change of the inode, which no program can set. */
function versionOf(path: string): string | undefined {
  const stats = statSync(path, IF_THERE);
  return stats === undefined ? undefined : `${stats.ino} ${stats.size} ${stats.ctimeMs}`;
}

function modeOf(path: string): number | undefined {
  const mode = statSync(path, IF_THERE)?.mode;
  return mode === undefined ? undefined : mode & PERMISSION_BITS;
}

/** Folder by folder: on a system that refuses new folders (/proc), Node's recursive mode never returns. */
function makeDir(path: string): readonly string[] {
  if (isDir(path)) return [];
  const parent = dirname(path);
  const above = parent === path ? [] : makeDir(parent);
  try {
    mkdirSync(path, { mode: FOR_THIS_USER.dir });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (isDir(path)) return above;
    throw error;
  }
  return [...above, path];
}

function isDir(path: string): boolean {
  return statSync(path, IF_THERE)?.isDirectory() === true;
}

function writable(path: string, file: number): WritableFile {
  return {
    write: async (bytes) => {
      const written = writeSync(file, bytes);
      if (written !== bytes.length) throw shortWrite(written, bytes.length);
    },
    sync: () => flush(file),
    // Not every system can truncate a file that was opened for appending.
    truncate: async (size) => truncateSync(path, size),
    close: async () => closeSync(file),
  };
}

/** Looks like a system error, because it is one that the system did not raise: the disk is full. */
function shortWrite(written: number, wanted: number): Error {
  return Object.assign(new Error(`wrote ${written} of ${wanted} bytes`), { code: 'ENOSPC' });
}

function linkNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (cause) {
    if (errorCode(cause) !== 'EEXIST') throw cause;
  }
}

async function flushed(file: number): Promise<void> {
  try {
    await flush(file);
  } finally {
    closeSync(file);
  }
}
