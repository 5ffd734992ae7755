import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Claim, canBeAsked, describeClaim, isAlive, parseClaim } from './claim.ts';

/** A claim where it lies; what cannot be parsed is a claim of nobody. */
export type LaidClaim = { readonly path: string; readonly claim: Claim | undefined };

/** Where those without native locks lay their claims on a lock. */
export function claimsDir(lockPath: string): string {
  return `${lockPath}.claims`;
}

/** Where a holder with native locks leaves its claim: Windows lets nobody else read the locked file itself. */
export function holderPath(lockPath: string): string {
  return `${lockPath}.holder`;
}

/** How the names of claims begin. */
export const EXCLUSIVE = 'x-';
export const SHARED = 's-';

export function isExclusive({ path }: LaidClaim): boolean {
  return basename(path).startsWith(EXCLUSIVE);
}

export function claimsIn(dir: string): readonly LaidClaim[] {
  // Where native locks load nobody lays a claim, and to be refused a listing costs more than to look first.
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
  return (ifThere(() => readdirSync(dir)) ?? []).flatMap((name) => claimAt(join(dir, name)) ?? []);
}

/** What was taken back while we looked is no claim. Any other failure to read says nothing, so it must not look like one. */
export function claimAt(path: string): LaidClaim | undefined {
  const text = ifThere(() => readFileSync(path, 'utf8'));
  return text === undefined ? undefined : { path, claim: parseClaim(text) };
}

/** Names the first that lives, and how to go on where only a person can know that it does not. */
export function liveHolder(claims: readonly LaidClaim[]): string | undefined {
  for (const { path, claim } of claims) {
    if (claim === undefined || !isAlive(claim)) continue;
    return canBeAsked(claim) ? describeClaim(claim) : `${describeClaim(claim)}; if that is gone, delete ${path}`;
  }
  return undefined;
}

function ifThere<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}
