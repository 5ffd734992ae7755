import { closeSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { claimAt, claimsDir, claimsIn, holderPath, isExclusive, liveHolder, ownClaim } from './claim.ts';
import { claimLocks } from './claim-locks.ts';
import type { HeldLock, LockAttempt, Locks } from './locks.ts';

/** The locks of the operating system where their library loads, else those that need none. */
export async function systemLocks(): Promise<Locks> {
  try {
    return nativeLocks(await import('fs-native-extensions'));
  } catch {
    return claimLocks;
  }
}

type Native = typeof import('fs-native-extensions');

/**
 * Locks of the operating system: a killed process gives them back at once, a suspended one keeps them. Processes that
 * have none cannot see them, so a holder also leaves its claim beside the first file, and then looks for theirs.
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

/** Those who share leave no claim, but they keep away from one who has claimed the lock alone. */
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
  const file = openLockFile(path);
  let isLocked = false;
  try {
    isLocked = native.tryLock(file, { shared });
    return isLocked ? file : undefined;
  } finally {
    if (!isLocked) closeSync(file);
  }
}

/** Opened to be written anywhere in it, the only way in which every system lets a file be locked. */
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
    if (cause instanceof Error && 'code' in cause && cause.code === expected) return undefined;
    throw cause;
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

/** Longer than any claim, so that one always covers the last one whole. */
const CLAIM_BYTES = 512;
/** In the place of its first byte it makes a claim one of nobody. */
const TAKEN_BACK = '-';

/** Written over what is there: to make, cut and remove files costs several times as much. Spaces end no JSON. */
function layClaim(claim: number): void {
  writeSync(claim, JSON.stringify(ownClaim()).padEnd(CLAIM_BYTES), 0);
  if (fstatSync(claim).size > CLAIM_BYTES) ftruncateSync(claim, CLAIM_BYTES);
}

/** Where the claim cannot be taken back the next holder puts its own in its place, and a dead process is not believed. */
function takeBackClaim(claim: number): void {
  try {
    writeSync(claim, TAKEN_BACK, 0);
  } catch {
    // What was done under the lock is done, so this is no reason to say that it failed.
  } finally {
    closeSync(claim);
  }
}

/** Only a courtesy: the lock is busy whatever lies there. A process that was killed holds nothing any more. */
function holderNamedAt(path: string | undefined): string | undefined {
  const claim = path === undefined ? undefined : claimAt(holderPath(path));
  return claim === undefined ? undefined : liveHolder([claim]);
}
