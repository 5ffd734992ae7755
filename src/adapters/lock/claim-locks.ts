import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../core/json/json-value.ts';
import { errorCode, ifExists, readRegular } from '../guarded-file.ts';
import type { LockAttempt, Locks } from './locks.ts';

/** What the system knows about a process number; `startedAt` is `undefined` if it does not say. */
export type RunningProcess = { readonly startedAt: string | undefined };

/** The process that has this number now; `undefined` if there is none that could still act. */
export function runningProcess(pid: number): RunningProcess | undefined {
  if (!isThere(pid)) return undefined;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // Any other error, such as for a process of another user, does not prove that it is gone.
    return errorCode(cause) !== 'ESRCH';
  }
}

/** Fields of `/proc/PID/stat`, counted from the state, which follows the name. */
const STATE = 0;
const THREADS = 17;
const START_TIME = 19;

function fromProc(pid: number): RunningProcess | undefined {
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const startedAt = fields[START_TIME];
  // A dead process keeps its number until its parent reaps it. While one of its threads is still writing, it is not
  // dead.
  return fields[STATE] === 'Z' && Number(fields[THREADS]) <= 1 ? undefined : { startedAt };
}

/** The same without `/proc`. The time must be printed alike for everyone, whatever their time zone and language. */
export function fromPs(pid: number): RunningProcess | undefined {
  const line = orUndefined(() =>
    execFileSync('ps', ['-o', 'state=', '-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    }),
  );
  const [state, ...startedAt] = line?.trim().split(/\s+/) ?? [];
  if (state?.startsWith('Z') === true) return undefined;
  return { startedAt: startedAt.length === 0 ? undefined : startedAt.join(' ') };
}

function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Identifies the holder of a lock. Process numbers are reused, so the start time is part of it. Empty means unknown.
 */
const claimSchema = z.object({
  host: z.string(),
  /** Changes with every boot. */
  boot: z.string(),
  /** Process numbers are only comparable inside the same container. */
  pidSpace: z.string(),
  pid: z.int().min(1),
  startedAt: z.string(),
});
export type Claim = z.infer<typeof claimSchema>;

let own: Claim | undefined;

export function ownClaim(): Claim {
  own ??= {
    host: hostname(),
    boot: orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidSpace: orEmpty(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    startedAt: runningProcess(process.pid)?.startedAt ?? '',
  };
  return own;
}

/** A text that is not a claim was withdrawn or cut off by a power failure, so its writer holds nothing. */
export function parseClaim(text: string): Claim | undefined {
  return parseJson(text)
    .map((json) => claimSchema.safeParse(json).data)
    .unwrapOr(undefined);
}

/** Whether the claiming process may still be running. If that is unknown, the answer is yes: a lock is never stolen. */
export function isAlive(claim: Claim): boolean {
  const here = ownClaim();
  if (claim.host !== here.host) return true;
  if (isKnownToDiffer(claim.boot, here.boot)) return false;
  if (!canBeAsked(claim)) return true;
  const found = runningProcess(claim.pid);
  return found !== undefined && !isKnownToDiffer(claim.startedAt, found.startedAt ?? '');
}

/** Whether this process can check if the claiming one is alive. If not, only a person can. */
function canBeAsked({ host, pidSpace }: Claim): boolean {
  const here = ownClaim();
  return host === here.host && pidSpace === here.pidSpace;
}

export function describeClaim({ pid, host }: Claim): string {
  return `process ${pid} on ${host}`;
}

function isKnownToDiffer(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other;
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** A claim with its path; what cannot be parsed belongs to nobody. */
type LaidClaim = { readonly path: string; readonly claim: Claim | undefined };

/** Where processes without native locks write their claims. */
export function claimsDir(lockPath: string): string {
  return `${lockPath}.claims`;
}

/** Where a holder with native locks writes its claim: on Windows nobody else can read the locked file itself. */
export function holderPath(lockPath: string): string {
  return `${lockPath}.holder`;
}

/** Prefixes of claim names. */
const EXCLUSIVE = 'x-';
const SHARED = 's-';

export function isExclusive({ path }: LaidClaim): boolean {
  return basename(path).startsWith(EXCLUSIVE);
}

export function claimsIn(dir: string): readonly LaidClaim[] {
  // With native locks there are no claims, and a failing listing costs more than this check.
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
  return (ifExists(() => readdirSync(dir)) ?? []).flatMap((name) => claimAt(join(dir, name)) ?? []);
}

/**
 * A claim that disappeared meanwhile was withdrawn. Any other failure is thrown, because it must not look like that.
 */
export function claimAt(path: string): LaidClaim | undefined {
  const text = ifExists(() => readRegular(path).toString());
  return text === undefined ? undefined : { path, claim: parseClaim(text) };
}

/** Names the first live holder, and what to do if only a person can know whether it lives. */
export function liveHolder(claims: readonly LaidClaim[]): string | undefined {
  for (const { path, claim } of claims) {
    if (claim === undefined || !isAlive(claim)) continue;
    return canBeAsked(claim)
      ? describeClaim(claim)
      : `${describeClaim(claim)} (if that process is gone, delete ${path})`;
  }
  return undefined;
}

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
