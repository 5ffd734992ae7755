import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import type { HeldLock, LockAttempt, Locks } from './locks.ts';

type Native = typeof import('fs-native-extensions');

/** Locks of the operating system: a killed process gives them back at once, a suspended one keeps them. */
export function nativeLocks(native: Native): Locks {
  return {
    hasSharedLocks: true,
    tryExclusive: async (paths) => lockAll(native, paths),
    tryShared: async (path) => {
      const file = lockOne(native, path, true);
      return file === undefined ? { kind: 'busy', holder: undefined } : { kind: 'held', lock: held([{ path, file }]) };
    },
  };
}

type LockedFile = { readonly path: string; readonly file: number };

function lockAll(native: Native, paths: readonly string[]): LockAttempt {
  const locked: LockedFile[] = [];
  for (const path of paths) {
    const file = lockOne(native, path, false);
    if (file === undefined) {
      for (const { file } of locked) closeSync(file);
      return { kind: 'busy', holder: holderNamedIn(paths[0]) };
    }
    locked.push({ path, file });
  }
  leaveName(locked[0]);
  return { kind: 'held', lock: held(locked) };
}

function lockOne(native: Native, path: string, shared: boolean): number | undefined {
  const file = openSync(path, 'a+', 0o600);
  // A lock on a file that was deleted meanwhile excludes nobody.
  if (native.tryLock(file, { shared }) && isSameFile(path, file)) return file;
  closeSync(file);
  return undefined;
}

function held(locked: readonly LockedFile[]): HeldLock {
  return {
    isHeld: () => locked.every(({ path, file }) => isSameFile(path, file)),
    release: () => {
      for (const { file } of locked) closeSync(file);
    },
  };
}

function isSameFile(path: string, file: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
}

/** A courtesy to whoever waits. It is not the lock, and may be out of date. */
function leaveName(first: LockedFile | undefined): void {
  if (first === undefined) return;
  ftruncateSync(first.file, 0);
  writeSync(first.file, `process ${process.pid} on ${hostname()}`);
}

function holderNamedIn(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const name = readFileSync(path, 'utf8');
  return name === '' ? undefined : name;
}
