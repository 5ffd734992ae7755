import { beforeAll, expect, test } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong, share } from '../../volume.ts';
import { EMPTY_DISK } from '../disk/simulated-disk.ts';
import { type CrashCounts, type CrashPoint, crashExplorer } from './crash-explorer.ts';
import { NO_PROGRESS } from './progress.ts';

const SEED = 20;
const FIRST_CRASH = { fullMax: 20_000, pairsMax: isLong ? 5_000 : 500, seed: SEED };
const LATER_CRASH = { fullMax: isLong ? 1_000 : 32, pairsMax: isLong ? 300 : 8, seed: SEED };
const APPENDS = 5;

const explorer = crashExplorer();
const blank = { state: EMPTY_DISK, acknowledged: NO_PROGRESS };
let points: readonly CrashPoint[] = [];
let survivors: readonly CrashPoint[] = [];

beforeAll(async () => {
  points = await explorer.record(blank, { appends: APPENDS });
  const found: CrashPoint[] = [];
  for (const point of points) found.push(...(await explorer.explore(point, FIRST_CRASH)));
  survivors = found;
}, 600_000);

test('a crash at any operation loses nothing acknowledged, invents nothing, and work can continue', () => {
  enforces('crash_loses_no_acknowledged_event', 'append_plan_atomic', 'append_order_files_then_manifest');
  const { distinct, recoveries } = phase('power cut', points.length);
  expect(explorer.findings).toEqual([]);
  expect(distinct).toBeGreaterThan(10_000);
  expect(recoveries).toBeGreaterThan(80);
});

test('a second crash during recovery loses nothing either', async () => {
  enforces('recovery_idempotent');
  let crashes = 0;
  for (const { state, acknowledged } of share(survivors)) {
    const goal = { appends: Math.min(acknowledged.appends + 1, APPENDS) };
    const later = await explorer.record({ state, acknowledged }, goal);
    crashes += later.length;
    for (const point of later) await explorer.explore(point, LATER_CRASH);
  }
  const { distinct, recoveries } = phase('power cut during recovery', crashes);
  expect(explorer.findings).toEqual([]);
  expect(distinct).toBeGreaterThan(isLong ? 2_000 : 400);
  expect(recoveries).toBeGreaterThan(isLong ? 500 : 100);
}, 3_600_000);

test('a power cut after a kill loses nothing that a later process acknowledged', async () => {
  enforces('crash_loses_no_acknowledged_event', 'recovery_idempotent');
  let crashes = 0;
  for (const { state, acknowledged } of share(points)) {
    const goal = { appends: Math.min(acknowledged.appends + 1, APPENDS) };
    const later = await explorer.record({ state, acknowledged }, goal);
    crashes += later.length;
    for (const point of later) await explorer.explore(point, LATER_CRASH);
  }
  const { distinct, recoveries } = phase('power cut after a kill', crashes);
  expect(explorer.findings).toEqual([]);
  expect(distinct).toBeGreaterThan(isLong ? 5_000 : 1_000);
  expect(recoveries).toBeGreaterThan(isLong ? 100 : 20);
}, 3_600_000);

let before: CrashCounts = explorer.counts();

/** What a phase added, and says so: states made, and how many of them no phase had made before. */
function phase(what: string, crashes: number): CrashCounts {
  const now = explorer.counts();
  const added: CrashCounts = {
    states: now.states - before.states,
    distinct: now.distinct - before.distinct,
    recoveries: now.recoveries - before.recoveries,
  };
  before = now;
  console.log(
    `${what}: ${crashes} moments, ${added.states} disk states made, ${added.distinct} of them new in some byte, ${added.recoveries} in something a store looks at (seed ${SEED})`,
  );
  return added;
}
