import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { Result } from 'neverthrow';
import * as z from 'zod';
import { runningProcess } from './running-process.ts';

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

const parseJson = Result.fromThrowable(JSON.parse as (text: string) => unknown);

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
export function canBeAsked({ host, pidSpace }: Claim): boolean {
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
