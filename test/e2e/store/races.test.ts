import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { appendCheckpoint } from './append-checkpoint.ts';
import { fastDir } from './fast-dir.ts';
import { EVENTS_PER_CHECKPOINT, EVENTS_PER_OPENING, sessionNamed } from './named-plans.ts';
import { storedNames } from './stored-names.ts';
import type { WorkerReport } from './worker.ts';
import { type WorkerProcess, workerProgram } from './worker-process.ts';

const PROCESSES = 8;
/** Longer than a busy machine takes for all of them: how long two seconds are is not what is looked at here. */
const PATIENT_MS = 120_000;
/** How many appends of others may come between two of one process. Its share is one in eight, and chance is kind. */
const TURNS_BETWEEN_MAX = 120;

let startWorker: Awaited<ReturnType<typeof workerProgram>>;
let root: string;
let workers: WorkerProcess[];

beforeAll(async () => {
  startWorker = await workerProgram('races');
});

beforeEach(() => {
  root = fastDir('races');
  workers = [];
});

afterEach(async () => {
  for (const worker of workers) worker.signal('SIGKILL');
  await Promise.all(workers.map((worker) => worker.ended()));
  rmSync(root, { recursive: true });
});

describe.each([
  { locks: 'native', appends: isLong ? 100 : 20 },
  { locks: 'claims', appends: isLong ? 40 : 8 },
] as const)(`${PROCESSES} processes with $appends appends each, $locks locks`, ({ locks, appends }) => {
  it('processes that write to one session, and then to their own, leave every event once and in order', async () => {
    enforces('eight_processes_one_session', 'single_writer_per_session', 'many_processes_share_data_dir');
    await race();
    const stored = await storedNames(root, 'one');
    expect([...stored].sort()).toEqual(workers.flatMap((worker) => acknowledgedNames(worker).slice(0, appends)).sort());
    for (const [i, worker] of workers.entries()) {
      const names = acknowledgedNames(worker);
      expect(names).toHaveLength(2 * appends);
      expect(stored.filter((name) => names.includes(name))).toEqual(names.slice(0, appends));
      expect(await storedNames(root, `own${i}`)).toEqual(names.slice(appends));
    }
    const shared = workers.map((worker) => acknowledgedPlaces(worker).slice(0, appends));
    const placed = shared.flat().sort((a, b) => a - b);
    expect(placed).toEqual(placed.map((_, i) => EVENTS_PER_OPENING + i * EVENTS_PER_CHECKPOINT));
    // Nobody was starved, however busy the machine was.
    expect(Math.max(...shared.flatMap(turnsBetween))).toBeLessThanOrEqual(TURNS_BETWEEN_MAX);
  });

  /** All start together, once every process is there. */
  async function race(): Promise<void> {
    for (let i = 0; i < PROCESSES; i++) {
      const own = { name: `w${i}`, ownSession: `own${i}` };
      start({ ...own, locks, appends, waits: true, lockWaitMs: PATIENT_MS });
    }
    await Promise.all(workers.map((worker) => worker.heard('ready')));
    for (const worker of workers) worker.go();
    await Promise.all(workers.map((worker) => worker.ended()));
    const troubles = workers.flatMap(({ reports }) => reports.filter(isTrouble));
    expect(troubles).toEqual([]);
  }
});

it.each(['native', 'claims'] as const)(
  'a suspended process keeps its lock and continues when it is resumed (%s locks)',
  async (locks) => {
    enforces('lock_never_stolen_from_live', 'lock_covers_whole_append', 'single_writer_per_session');
    const holder = start({ name: 'holder', locks, appends: 1, holds: true });
    await holder.heard('holding');
    holder.signal('SIGSTOP');

    const other = start({ name: 'other', locks, appends: 1, lockWaitMs: isLong ? 2_000 : 200 });
    await other.heard('locked');
    expect(other.reports.at(-1)).toEqual({ kind: 'locked', holder: `process ${holder.pid} on ${hostname()}` });

    holder.signal('SIGCONT');
    holder.go();
    await Promise.all([holder.ended(), other.ended()]);
    expect([acknowledgedNames(holder), acknowledgedNames(other)]).toEqual([['holder-0'], ['other-0']]);
    expect(await storedNames(root, 'one')).toEqual(['holder-0', 'other-0']);
  },
);

it('a locked session can be read, and other sessions can be written', async () => {
  enforces('lock_covers_whole_append', 'many_processes_share_data_dir');
  const { sessions } = fileStore(root, nodeHasher.sha256);
  const sessionId = sessionNamed('one');
  (await appendCheckpoint(sessions, sessionId, { name: 'first' }))._unsafeUnwrap();
  const holder = start({ name: 'holder', appends: 1, holds: true });
  await holder.heard('holding');
  const length = EVENTS_PER_OPENING + EVENTS_PER_CHECKPOINT;
  expect((await sessions.load(sessionId)).map(({ view }) => view.nextEventIndex)._unsafeUnwrap()).toBe(length);
  (await appendCheckpoint(sessions, sessionNamed('two'), { name: 'elsewhere' }))._unsafeUnwrap();
  expect(acknowledgedNames(holder)).toEqual([]);
  holder.go();
  await holder.ended();
  expect(await storedNames(root, 'one')).toEqual(['first', 'holder-0']);
});

type Task = Partial<Parameters<typeof startWorker>[0]> & { readonly name: string; readonly appends: number };

function start(task: Task): WorkerProcess {
  const worker = startWorker({ root, ...task });
  workers.push(worker);
  return worker;
}

function isTrouble({ kind }: WorkerReport): boolean {
  return kind === 'locked' || kind === 'failed';
}

function acknowledgedNames({ reports }: WorkerProcess): readonly string[] {
  return reports.flatMap((report) => (report.kind === 'acknowledged' ? [report.name] : []));
}

function acknowledgedPlaces({ reports }: WorkerProcess): readonly number[] {
  return reports.flatMap((report) => (report.kind === 'acknowledged' ? [report.firstEventIndex] : []));
}

function turnsBetween(places: readonly number[]): readonly number[] {
  const before = [EVENTS_PER_OPENING, ...places];
  return places.map((place, i) => (place - (before[i] ?? 0)) / EVENTS_PER_CHECKPOINT);
}
