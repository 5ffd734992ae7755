import { closeSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { describeClaim, ownClaim } from './claim.ts';
import { claimAt, claimsDir, claimsIn, liveHolder } from './laid-claims.ts';
import type { HeldLock, LockAttempt, Locks } from './locks.ts';

type Native = typeof import('fs-native-extensions');

/**
 * Locks of the operating system: a killed process gives them back at once, a suspended one keeps them. Processes that
 * have none cannot see them, so a holder also writes its claim into the first file, and then looks for theirs.
 */
export function nativeLocks(native: Native): Locks {
  return {
    hasSharedLocks: true,
    tryExclusive: async (paths) => tryExclusive(native, paths),
    tryShared: async (path) => {
      const files = lockAll(native, [path], true);
      if (files === undefined) return { kind: 'busy', holder: holderNamedIn(path) };
      return { kind: 'held', lock: heldLock(files, () => unlockAll(native, files)) };
    },
  };
}

type LockedFile = { readonly path: string; readonly file: number };

function tryExclusive(native: Native, paths: readonly string[]): LockAttempt {
  const files = lockAll(native, paths, false);
  const [first] = files ?? [];
  if (files === undefined || first === undefined) return { kind: 'busy', holder: holderNamedIn(paths[0]) };
  const release = () => {
    try {
      ftruncateSync(first.file);
    } finally {
      unlockAll(native, files);
    }
  };
  try {
    writeClaim(first.file);
    const holder = liveHolder(claimsIn(claimsDir(first.path)));
    if (holder === undefined) return { kind: 'held', lock: heldLock(files, release) };
    release();
    return { kind: 'busy', holder };
  } catch (cause) {
    release();
    throw cause;
  }
}

function lockAll(native: Native, paths: readonly string[], shared: boolean): readonly LockedFile[] | undefined {
  const files: LockedFile[] = [];
  try {
    for (const path of paths) {
      const file = lockOne(native, path, shared);
      if (file !== undefined) files.push({ path, file });
      // A lock on a file that was deleted meanwhile excludes nobody.
      if (file !== undefined && isSameFile(path, file)) continue;
      unlockAll(native, files);
      return undefined;
    }
    return files;
  } catch (cause) {
    unlockAll(native, files);
    throw cause;
  }
}

function lockOne(native: Native, path: string, shared: boolean): number | undefined {
  const file = openSync(path, 'a+', 0o600);
  let isLocked = false;
  try {
    isLocked = native.tryLock(file, { shared });
    return isLocked ? file : undefined;
  } finally {
    if (!isLocked) closeSync(file);
  }
}

/** Closing alone would not do: a child that is just being started has the file open too, until it runs. */
function unlockAll(native: Native, files: readonly LockedFile[]): void {
  for (const { file } of files) {
    native.unlock(file);
    closeSync(file);
  }
}

function heldLock(files: readonly LockedFile[], release: () => void): HeldLock {
  return { isHeld: () => files.every(({ path, file }) => isSameFile(path, file)), release };
}

function isSameFile(path: string, file: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
}

function writeClaim(file: number): void {
  ftruncateSync(file);
  writeSync(file, JSON.stringify(ownClaim()));
}

/** Only a courtesy: the lock is busy whatever the file says. */
function holderNamedIn(path: string | undefined): string | undefined {
  const claim = path === undefined ? undefined : claimAt(path)?.claim;
  return claim === undefined ? undefined : describeClaim(claim);
}
