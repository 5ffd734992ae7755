import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Claim, describeClaim, isAlive, ownClaim, parseClaim } from './claim.ts';
import type { LockAttempt, Locks } from './locks.ts';

/**
 * Locks for machines where the native ones do not load. Everyone who wants a lock lays down a claim and then looks
 * for others: of two that meet, at least one sees the other, so never do both go on. A claim counts while its process
 * lives, told by its start time as well as its number; one that cannot be judged counts as alive.
 */
export const claimLocks: Locks = {
  // Readers of one lock would need a second kind of claim; collection refuses to run instead.
  hasSharedLocks: false,
  tryExclusive: async ([path]) => (path === undefined ? { kind: 'busy', holder: undefined } : tryClaim(path)),
  tryShared: async () => ({ kind: 'held', lock: { isHeld: () => true, release: () => undefined } }),
};

function tryClaim(path: string): LockAttempt {
  const dir = `${path}.claims`;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const rival = liveRival(dir, undefined);
  if (rival !== undefined) return { kind: 'busy', holder: describeClaim(rival) };

  const own = layClaim(dir);
  const met = liveRival(dir, own);
  if (met !== undefined) {
    rmSync(own, { force: true });
    return { kind: 'busy', holder: describeClaim(met) };
  }
  sweepDeadClaims(dir, own);
  return {
    kind: 'held',
    lock: { isHeld: () => existsSync(own), release: () => rmSync(own, { force: true }) },
  };
}

/** A claim appears whole or not at all: a reader never sees half of one. */
function layClaim(dir: string): string {
  const name = randomBytes(8).toString('hex');
  const temp = join(dirname(dir), `.${name}.claim.tmp`);
  const path = join(dir, name);
  writeFileSync(temp, JSON.stringify(ownClaim()), { mode: 0o600 });
  renameSync(temp, path);
  return path;
}

function liveRival(dir: string, own: string | undefined): Claim | undefined {
  return rivals(dir, own)
    .map(({ claim }) => claim)
    .find((claim) => claim !== undefined && isAlive(claim));
}

/** Only the holder sweeps, and only what it has seen dead. */
function sweepDeadClaims(dir: string, own: string): void {
  for (const { path, claim } of rivals(dir, own)) {
    if (claim === undefined || !isAlive(claim)) rmSync(path, { force: true });
  }
}

function rivals(dir: string, own: string | undefined): readonly { path: string; claim: Claim | undefined }[] {
  return readdirSync(dir)
    .filter((name) => own === undefined || name !== basename(own))
    .map((name) => ({ path: join(dir, name), claim: parseClaim(readIfThere(join(dir, name))) }));
}

/** A claim that was taken back while we looked is no claim. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
