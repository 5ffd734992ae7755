import { closeSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { errorCode } from '../guarded-file.ts';
import {
  claimAt,
  claimLocks,
  claimsDir,
  claimsIn,
  holderPath,
  isExclusive,
  liveHolder,
  ownClaim,
} from './claim-locks.ts';
import type { HeldLock, LockAttempt, Locks } from './locks.ts';

/** Native locks if their library loads, claim files otherwise. */
export async function systemLocks(): Promise<Locks> {
  try {
    return nativeLocks(await import('fs-native-extensions'));
  } catch {
    return claimLocks;
  }
}

type Native = typeof import('fs-native-extensions');

/**
 * Native locks: the system releases those of a killed process at once, and a suspended process keeps its own. Processes
 * without native locks cannot see them, so a holder also writes a claim beside the first file and then looks for
 * theirs.
 */
function nativeLocks(native: Native): Locks {
  return {
    hasSharedLocks: true,
    tryExclusive: async (paths) => tryExclusive(native, paths),
    tryShared: async (path) => tryShared(native, path),
  };
}

type LockedFile = { readonly path: string; readonly file: number };

function tryExclusive(native: Native, paths: readonly string[]): LockAttempt {
  const files = lockAll(native, paths, false);
  const [first] = files ?? [];
  if (files === undefined || first === undefined) return { kind: 'busy', holder: holderNamedAt(paths[0]) };
  let claim: number | undefined;
  const release = () => {
    if (claim !== undefined) takeBackClaim(claim);
    unlockAll(native, files);
  };
  try {
    claim = openLockFile(holderPath(first.path));
    layClaim(claim);
    const holder = liveHolder(claimsIn(claimsDir(first.path)));
    if (holder === undefined) return { kind: 'held', lock: heldLock(files, release) };
    release();
    return { kind: 'busy', holder };
  } catch (cause) {
    release();
    throw cause;
  }
}

/** Sharers write no claim, but respect an exclusive claim. */
function tryShared(native: Native, path: string): LockAttempt {
  const files = lockAll(native, [path], true);
  if (files === undefined) return { kind: 'busy', holder: holderNamedAt(path) };
  const release = () => unlockAll(native, files);
  try {
    const holder = liveHolder(claimsIn(claimsDir(path)).filter(isExclusive));
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
      // A lock on a deleted file excludes nobody.
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
  const file = openLockFile(path);
  let isLocked = false;
  try {
    isLocked = native.tryLock(file, { shared });
    return isLocked ? file : undefined;
  } finally {
    if (!isLocked) closeSync(file);
  }
}

/** Opened for reading and writing, the only mode in which every system can lock a file. */
function openLockFile(path: string): number {
  return (
    openOr('ENOENT', () => openSync(path, 'r+')) ??
    openOr('EEXIST', () => openSync(path, 'wx+', 0o600)) ??
    openSync(path, 'r+')
  );
}

function openOr(expected: string, open: () => number): number | undefined {
  try {
    return open();
  } catch (cause) {
    if (errorCode(cause) === expected) return undefined;
    throw cause;
  }
}

/** Closing is not enough: a child process that is just starting has the file open too. */
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

/** Longer than any claim, so that a new claim always covers the previous one. */
const CLAIM_BYTES = 512;
/** Written over the first byte, it withdraws a claim. */
const TAKEN_BACK = '-';

/**
 * Overwrites the file: creating, truncating and removing files costs several times as much. Trailing spaces are valid
 * in JSON.
 */
function layClaim(claim: number): void {
  writeSync(claim, JSON.stringify(ownClaim()).padEnd(CLAIM_BYTES), 0);
  if (fstatSync(claim).size > CLAIM_BYTES) ftruncateSync(claim, CLAIM_BYTES);
}

/** If the claim cannot be withdrawn, the next holder overwrites it, and a dead process is ignored. */
function takeBackClaim(claim: number): void {
  try {
    writeSync(claim, TAKEN_BACK, 0);
  } catch {
    // The work under the lock is already done, so this must not report a failure.
  } finally {
    closeSync(claim);
  }
}

/** For information only: the lock is busy either way. A process that was killed is not named. */
function holderNamedAt(path: string | undefined): string | undefined {
  const claim = path === undefined ? undefined : claimAt(holderPath(path));
  return claim === undefined ? undefined : liveHolder([claim]);
}
