import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { WorkerReport, WorkerTask } from './worker.ts';

/** A worker as a test sees it. */
export type WorkerProcess = {
  readonly pid: number;
  /** Everything it has said so far. */
  readonly reports: readonly WorkerReport[];
  /** Returns once it has said something of this kind, `count` times in all. */
  heard(kind: WorkerReport['kind'], count?: number): Promise<void>;
  /** Lets it go on where it waits. */
  go(): void;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Returns once it is gone and everything it said was heard. */
  ended(): Promise<void>;
};

const STANDARD_TASK = { locks: 'native', session: 'one', waits: false, holds: false, lockWaitMs: 2_000 } as const;

export type WorkerOptions = Partial<WorkerTask> & Pick<WorkerTask, 'root' | 'name' | 'appends'>;

/** Bundles the worker program and gives what starts it. Every test file has its own copy, so that they can run at once. */
export async function workerProgram(copy: string): Promise<(options: WorkerOptions) => WorkerProcess> {
  const outfile = await bundleProgram('worker', copy);
  return (options) => {
    const task: WorkerTask = { ...STANDARD_TASK, ...options };
    return watched(spawn(process.execPath, [outfile, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'] }));
  };
}

/** Bundles a program of this folder and gives its path. */
export async function bundleProgram(name: string, copy: string): Promise<string> {
  const outfile = resolve('.cache', `store-${name}-${copy}.mjs`);
  await build({
    entryPoints: [`test/e2e/store/${name}.ts`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: ['fs-native-extensions'],
    logLevel: 'warning',
  });
  return outfile;
}

function watched(child: ChildProcess): WorkerProcess {
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error('the worker did not start');
  // A worker that was killed cannot be told anything any more.
  stdin.on('error', () => undefined);
  const reports: WorkerReport[] = [];
  const lines = createInterface({ input: stdout });
  lines.on('line', (line) => reports.push(JSON.parse(line)));
  let hasEnded = false;
  const end = once(lines, 'close').then(() => {
    hasEnded = true;
  });
  return {
    pid,
    reports,
    heard: async (kind, count = 1) => {
      while (reports.filter((report) => report.kind === kind).length < count) {
        if (hasEnded) throw new Error(`the worker ended after saying ${JSON.stringify(reports.slice(-3))}`);
        await Promise.race([once(lines, 'line'), end]);
      }
    },
    go: () => stdin.write('go\n'),
    signal: (signal) => child.kill(signal),
    ended: () => end,
  };
}
