import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../../volume.ts';
import { EVENTS_PER_CHECKPOINT } from './named-plans.ts';
import { storedNames } from './stored-names.ts';
import type { WorkerReport } from './worker.ts';
import { type WorkerProcess, workerProgram } from './worker-process.ts';

const KILLED_WITHIN_MS = isLong ? 120 : 60;
const TIMEOUT_MS = 600_000;

let startWorker: Awaited<ReturnType<typeof workerProgram>>;
let root: string;
let workers: WorkerProcess[];

beforeAll(async () => {
  startWorker = await workerProgram('kill');
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'workrail-kill-'));
  workers = [];
});

afterEach(async () => {
  for (const worker of workers) worker.signal('SIGKILL');
  await Promise.all(workers.map((worker) => worker.ended()));
  rmSync(root, { recursive: true });
});

it.each([
  { locks: 'native', kills: isLong ? 200 : 20 },
  { locks: 'claims', kills: isLong ? 40 : 5 },
] as const)(
  '$kills kills lose no acknowledged write, and the next process continues within a second ($locks locks)',
  async ({ locks, kills }) => {
    enforces('crash_loses_no_acknowledged_event');
    const seed = drawnSeed();
    const random = seededRandom(seed);
    console.log(`kill -9 loop, ${locks} locks: ${kills} kills, WORKRAIL_SEED=${seed}`);

    // The heir is started beforehand. It gives up when it cannot have the lock within a second.
    const start = (round: number) => {
      const task = { root, locks, name: `r${round}`, appends: 10_000, waits: true, lockWaitMs: 1_000 };
      const worker = startWorker(task);
      workers.push(worker);
      return worker;
    };
    const acknowledged: Acknowledged[] = [];
    let heir = start(0);
    await heir.heard('ready');
    heir.go();
    for (let round = 1; round <= kills; round++) {
      const worker = heir;
      heir = start(round);
      await Promise.all([worker.heard('acknowledged'), heir.heard('ready')]);
      await setTimeout(random.below(KILLED_WITHIN_MS));
      worker.signal('SIGKILL');
      heir.go();
      await Promise.all([worker.ended(), heir.heard('found')]);
      acknowledged.push(...acknowledgedBy(worker));
      expect(worker.reports.filter(isTrouble)).toEqual([]);
      expect(lengthFoundBy(heir)).toBeGreaterThanOrEqual(lengthBehind(acknowledged.at(-1)));
    }
    await heir.heard('acknowledged');
    heir.signal('SIGKILL');
    await heir.ended();
    acknowledged.push(...acknowledgedBy(heir));
    expect(heir.reports.filter(isTrouble)).toEqual([]);

    const stored = await storedNames(root, 'one');
    const names = acknowledged.map(({ name }) => name);
    console.log(`${names.length} acknowledged, ${stored.length - names.length} more stored`);
    expect(stored.filter((name) => names.includes(name))).toEqual(names);
    // Only the one append that each process was at when it was killed may have come through unheard.
    expect(new Set(stored).size).toBe(stored.length);
    expect(stored.length - names.length).toBeLessThanOrEqual(kills + 1);
  },
  TIMEOUT_MS,
);

type Acknowledged = Extract<WorkerReport, { kind: 'acknowledged' }>;

function acknowledgedBy({ reports }: WorkerProcess): readonly Acknowledged[] {
  return reports.filter((report) => report.kind === 'acknowledged');
}

function isTrouble({ kind }: WorkerReport): boolean {
  return kind === 'locked' || kind === 'failed';
}

function lengthFoundBy({ reports }: WorkerProcess): number {
  const found = reports.find((report) => report.kind === 'found');
  return found?.nextEventIndex ?? -1;
}

function lengthBehind(last: Acknowledged | undefined): number {
  return last === undefined ? 0 : last.firstEventIndex + EVENTS_PER_CHECKPOINT;
}
