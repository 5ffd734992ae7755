import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
