import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
 * Locks for machines where the native ones do not load. Everyone who wants a lock lays down a claim and then looks
 * for others: of two that meet, at least one sees the other, so never do both go on. A claim counts while its process
 * lives, told by its start time as well as its number; one that cannot be judged counts as alive.
 */
export const claimLocks: Locks = {
  // Those with native locks who share one lay no claim, so collection cannot rely on this and refuses to run.
  hasSharedLocks: false,
  tryExclusive: async ([path]) => (path === undefined ? { kind: 'busy', holder: undefined } : tryClaim(path)),
  tryShared: async (path) => tryShare(path),
};

function tryClaim(path: string): LockAttempt {
  // Whoever looks first does not disturb those who are about to look a second time.
  const holder = liveHolder([...nativeClaim(path), ...claimsIn(claimsDir(path))]);
  if (holder !== undefined) return { kind: 'busy', holder };
  return layClaim(path, { mark: EXCLUSIVE, isRival: () => true });
}

/** Sharers let each other be. A collector with native locks sees their claims and keeps away. */
function tryShare(path: string): LockAttempt {
  return layClaim(path, { mark: SHARED, isRival: isExclusive });
}

/** What a holder with native locks has left. */
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

/** A claim appears whole or not at all: nobody takes one that is being written for a torn one. */
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

/** Never those above it: where they are gone, so is what was to be locked. */
function makeDir(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
  }
}

/** Names of claims are never used twice and the dead stay dead, so whoever has seen one dead may clear it away. */
function sweepDead(claims: readonly LaidClaim[]): void {
  for (const claim of claims) if (liveHolder([claim]) === undefined) rmSync(claim.path, { force: true });
}
