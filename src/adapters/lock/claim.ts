import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../core/json/json-value.ts';

/** What the system tells of a process number; `startedAt` is `undefined` where it does not say. */
export type RunningProcess = { readonly startedAt: string | undefined };

/** The process that has a number now, or `undefined` when there is none that could still do anything. */
export function runningProcess(pid: number): RunningProcess | undefined {
  if (!isThere(pid)) return undefined;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // Anything else, such as a process of another user, is no proof that nobody is there.
    return !(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH');
  }
}

/** Fields of `/proc/PID/stat`, counted from the state, which follows the name. */
const STATE = 0;
const THREADS = 17;
const START_TIME = 19;

function fromProc(pid: number): RunningProcess | undefined {
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name stands in parentheses and may itself contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const startedAt = fields[START_TIME];
  // A dead process keeps its number until its parent takes notice; while a thread of it is still writing it is not dead.
  return fields[STATE] === 'Z' && Number(fields[THREADS]) <= 1 ? undefined : { startedAt };
}

/** The same where there is no `/proc`. Everyone must be told the time alike, whatever their zone and language. */
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

function orUndefined<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Who holds a lock. Process numbers are used again, so the start time belongs to the name. Empty is unknown. */
const claimSchema = z.object({
  host: z.string(),
  /** Changes with every start of the machine. */
  boot: z.string(),
  /** Process numbers mean something only inside the same container. */
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

/** A text that is no claim was taken back or cut off by a power failure; whoever laid it holds nothing. */
export function parseClaim(text: string): Claim | undefined {
  return parseJson(text)
    .map((json) => claimSchema.safeParse(json).data)
    .unwrapOr(undefined);
}

/** Whether the claiming process may still be running. Where we cannot tell we say yes: a lock is never stolen. */
export function isAlive(claim: Claim): boolean {
  const here = ownClaim();
  if (claim.host !== here.host) return true;
  if (isKnownToDiffer(claim.boot, here.boot)) return false;
  if (!canBeAsked(claim)) return true;
  const found = runningProcess(claim.pid);
  return found !== undefined && !isKnownToDiffer(claim.startedAt, found.startedAt ?? '');
}

/** Whether this process can find out if the claiming one is alive; where not, only a person can. */
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

function orEmpty(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}

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
