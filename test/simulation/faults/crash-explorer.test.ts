import { beforeAll, expect, test } from 'vitest';
import { enforces } from '../../enforces.ts';
import { EMPTY_DISK } from '../disk/simulated-disk.ts';
import { type CrashPoint, crashExplorer } from './crash-explorer.ts';
import { NO_PROGRESS } from './progress.ts';

const isLong = process.env['WORKRAIL_LONG'] === '1';
const SEED = 20;
const FIRST_CRASH = { fullMax: isLong ? 20_000 : 1_000, pairsMax: isLong ? 5_000 : 200, seed: SEED };
const LATER_CRASH = { fullMax: isLong ? 1_000 : 32, pairsMax: isLong ? 300 : 8, seed: SEED };
const APPENDS = 5;

const explorer = crashExplorer();
const blank = { state: EMPTY_DISK, acknowledged: NO_PROGRESS };
let points: readonly CrashPoint[] = [];
let survivors: readonly CrashPoint[] = [];

beforeAll(async () => {
  points = await explorer.record(blank, APPENDS);
  const found: CrashPoint[] = [];
  for (const point of points) found.push(...(await explorer.explore(point, FIRST_CRASH)));
  survivors = found;
}, 600_000);

test('a crash at any operation loses nothing acknowledged, invents nothing, and one can go on', () => {
  enforces('crash_loses_no_acknowledged_event', 'append_plan_atomic', 'append_order_files_then_manifest');
  print('power cut', points.length);
  expect(explorer.findings).toEqual([]);
  expect(explorer.counts().states).toBeGreaterThan(10_000);
});

test('a crash while going on after a crash changes nothing about that', async () => {
  enforces('recovery_idempotent');
  let crashes = 0;
  for (const { state, acknowledged } of survivors) {
    const later = await explorer.record({ state, acknowledged }, Math.min(acknowledged.appends + 1, APPENDS));
    crashes += later.length;
    for (const point of later) await explorer.explore(point, LATER_CRASH);
  }
  print('power cut during recovery', crashes);
  expect(explorer.findings).toEqual([]);
}, 3_600_000);

test('a power cut behind a kill loses nothing that a later process acknowledged', async () => {
  enforces('crash_loses_no_acknowledged_event', 'recovery_idempotent');
  let crashes = 0;
  for (const { state, acknowledged } of points) {
    const later = await explorer.record({ state, acknowledged }, Math.min(acknowledged.appends + 1, APPENDS));
    crashes += later.length;
    for (const point of later) await explorer.explore(point, LATER_CRASH);
  }
  print('power cut after a kill', crashes);
  expect(explorer.findings).toEqual([]);
}, 3_600_000);

function print(what: string, crashes: number): void {
  const { states, recoveries } = explorer.counts();
  console.log(
    `${what}: ${crashes} moments; ${states} disk states so far, ${recoveries} of them different (seed ${SEED})`,
  );
}
