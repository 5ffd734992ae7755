import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../system-error.ts';
import {
  claimAt,
  claimsDir,
  claimsIn,
  EXCLUSIVE,
  holderPath,
  isExclusive,
  type LaidClaim,
  liveHolder,
  ownClaim,
  SHARED,
} from './claim.ts';
import type { LockAttempt, Locks } from './locks.ts';

/**
 * Locks for machines where the native ones do not load. A process writes a claim and then looks for others: if two do
 * so at once, at least one sees the other, so never both continue. A claim counts while its process lives, identified
 * by start time and number. If that cannot be determined, the process counts as alive.
 */
export const claimLocks: Locks = {
  // Processes that share a native lock write no claim, so collection cannot rely on these locks and refuses to run.
  hasSharedLocks: false,
  tryExclusive: async ([path]) => (path === undefined ? { kind: 'busy', holder: undefined } : tryClaim(path)),
  tryShared: async (path) => tryShare(path),
};

function tryClaim(path: string): LockAttempt {
  // Looking before claiming avoids disturbing those that are about to look a second time.
  const holder = liveHolder([...nativeClaim(path), ...claimsIn(claimsDir(path))]);
  if (holder !== undefined) return { kind: 'busy', holder };
  return layClaim(path, { mark: EXCLUSIVE, isRival: () => true });
}

/** Sharers do not exclude each other. A collector with native locks sees their claims and waits. */
function tryShare(path: string): LockAttempt {
  return layClaim(path, { mark: SHARED, isRival: isExclusive });
}

/** The claim of a holder with native locks. */
function nativeClaim(path: string): readonly LaidClaim[] {
  const claim = claimAt(holderPath(path));
  return claim === undefined ? [] : [claim];
}

type Wanted = { readonly mark: string; readonly isRival: (claim: LaidClaim) => boolean };

function layClaim(path: string, { mark, isRival }: Wanted): LockAttempt {
  const dir = claimsDir(path);
  const own = writeClaim(dir, mark);
  const release = () => rmSync(own, { force: true });
  try {
    const others = claimsIn(dir).filter((claim) => claim.path !== own);
    const holder = liveHolder([...nativeClaim(path), ...others.filter(isRival)]);
    if (holder === undefined) {
      sweepDead(others);
      return { kind: 'held', lock: { isHeld: () => existsSync(own), release } };
    }
    release();
    return { kind: 'busy', holder };
  } catch (cause) {
    release();
    throw cause;
  }
}

/** A claim appears atomically, so that nobody reads a half-written one. */
function writeClaim(dir: string, mark: string): string {
  makeDir(dir);
  const name = `${mark}${randomBytes(8).toString('hex')}`;
  const temp = join(dirname(dir), `.${name}.claim.tmp`);
  const path = join(dir, name);
  try {
    writeFileSync(temp, JSON.stringify(ownClaim()), { mode: 0o600 });
    renameSync(temp, path);
  } catch (cause) {
    rmSync(temp, { force: true });
    throw cause;
  }
  return path;
}

/** Parents are not created: if they are gone, so is what should be locked. */
function makeDir(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (cause) {
    if (errorCode(cause) !== 'EEXIST') throw cause;
  }
}

/** Claim names are unique and dead processes stay dead, so any process may remove a dead claim. */
function sweepDead(claims: readonly LaidClaim[]): void {
  for (const claim of claims) if (liveHolder([claim]) === undefined) rmSync(claim.path, { force: true });
}
