import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { Result } from 'neverthrow';
import * as z from 'zod';

/** Who holds a lock. Process numbers are used again, so the start time belongs to the name. */
const claimSchema = z.object({
  host: z.string(),
  /** Changes with every start of the machine, where that can be told. */
  boot: z.string(),
  /** Process numbers mean something only inside the same container. */
  pidSpace: z.string(),
  pid: z.int().min(1),
  startedAt: z.string(),
});
export type Claim = z.infer<typeof claimSchema>;

const parseJson = Result.fromThrowable(JSON.parse as (text: string) => unknown);

let own: Claim | undefined;

export function ownClaim(): Claim {
  own ??= {
    host: hostname(),
    boot: bootId(),
    pidSpace: pidSpace(),
    pid: process.pid,
    startedAt: startTime(process.pid) ?? '',
  };
  return own;
}

/** A text that is no claim was cut off by a power failure; whoever laid it is gone. */
export function parseClaim(text: string): Claim | undefined {
  return parseJson(text)
    .map((json) => claimSchema.safeParse(json).data)
    .unwrapOr(undefined);
}

/** Whether the claiming process may still be running. Where we cannot tell we say yes: a lock is never stolen. */
export function isAlive(claim: Claim): boolean {
  const here = ownClaim();
  if (claim.host !== here.host) return true;
  if (claim.boot !== here.boot) return false;
  if (claim.pidSpace !== here.pidSpace) return true;
  return isRunning(claim.pid) && (startTime(claim.pid) ?? claim.startedAt) === claim.startedAt;
}

export function describeClaim({ pid, host }: Claim): string {
  return `process ${pid} on ${host}`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // A process of another user cannot be signalled, but it is there.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}

function bootId(): string {
  return orElse(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '');
}

function pidSpace(): string {
  return orElse(() => readlinkSync('/proc/self/ns/pid'), '');
}

/** When a process started, as the system tells it; `undefined` where it does not. */
function startTime(pid: number): string | undefined {
  return process.platform === 'linux'
    ? orElse(() => fieldsAfterName(readFileSync(`/proc/${pid}/stat`, 'utf8'))[START_TIME_FIELD], undefined)
    : orElse(() => execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim(), undefined);
}

/** Field 22 of `/proc/PID/stat`, counted from the state, which follows the name. */
const START_TIME_FIELD = 19;

/** The name stands in parentheses and may itself contain spaces and parentheses. */
function fieldsAfterName(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function orElse<Value>(look: () => Value, otherwise: Value): Value {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
