import { join } from 'node:path';
import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { appendAll, appendOne } from '../../../test/contract/store-under-test.ts';
import {
  checkpointPlan,
  EVENTS_PER_OPENING,
  type NamedCheckpoint,
  openingPlan,
  sessionNamed,
} from '../../../test/e2e/store/named-plans.ts';
import { enforces } from '../../../test/enforces.ts';
import { filesOf, type SimulatedDisk, simulatedDisk } from '../../../test/simulation/disk/simulated-disk.ts';
import { ROOT, storeOn } from '../../../test/simulation/faults/simulated-store.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { layout } from './disk/disk.ts';

const DAY_MS = 86_400_000;
const [SESSION, OTHER] = ['a', 'b'].map(sessionNamed) as [SessionId, SessionId];
/** Six of these are more than a mebibyte. */
const PART = 200_000;

/** A store as one process opens it, with limits and a clock that the test sets. */
function limited(disk: SimulatedDisk, now: { session: number; daily: number; ms: number }) {
  const limits = async () => ({ 'store.sessionMiB': now.session, 'store.dailyMiB': now.daily });
  return storeOn(disk.fs, { limits, nowMs: () => now.ms }).sessions;
}

/** The first plans of a session: its opening, then checkpoints with an artifact each. */
function plansOf(sessionId: SessionId, letters: string) {
  let firstEventIndex = EVENTS_PER_OPENING;
  const checkpoints = [...letters].map((letter, i) => {
    const checkpoint: NamedCheckpoint = { name: `${i}`, firstEventIndex, artifacts: [letter.repeat(PART)] };
    const plan = checkpointPlan(sessionId, checkpoint);
    firstEventIndex += plan.events.length;
    return plan;
  });
  return [openingPlan(sessionId), ...checkpoints];
}

test('a session that would become larger than its limit is refused, and raising the limit helps at once', async () => {
  enforces('store_growth_limited');
  const disk = simulatedDisk();
  const now = { session: 1, daily: 9, ms: 0 };
  const sessions = limited(disk, now);
  const plans = plansOf(SESSION, 'abcdef');
  const last = plans.at(-1) ?? expect.fail('plans');
  await appendAll(sessions, plans.slice(0, -1));
  const before = [...filesOf(disk.state()).keys()];
  const refused = err({ code: 'limit_reached', setting: 'store.sessionMiB', maxMiB: 1 });
  expect(await appendOne(sessions, last)).toEqual(refused);
  // A process that only knows the log counts the same.
  expect(await appendOne(limited(disk, now), last)).toEqual(refused);
  expect([...filesOf(disk.state()).keys()]).toEqual(before);
  expect((await appendOne(sessions, openingPlan(OTHER))).isOk()).toBe(true);
  now.session = 2;
  expect((await appendOne(sessions, last)).isOk()).toBe(true);
});

test('what all processes store on one day is limited, and the next day begins at zero', async () => {
  enforces('store_growth_limited');
  const disk = simulatedDisk();
  const now = { session: 9, daily: 2, ms: 5 * DAY_MS };
  await appendAll(limited(disk, now), plansOf(SESSION, 'abcdef'));
  const growth = (day: string) => disk.fs.read(join(ROOT, layout.growth(day)));
  expect(growth('1970-01-06')?.length).toBeGreaterThan(0);
  const second = limited(disk, now);
  const plans = plansOf(OTHER, 'ghijkl');
  await appendAll(second, plans.slice(0, 5));
  const refused = err({ code: 'limit_reached', setting: 'store.dailyMiB', maxMiB: 2 });
  expect(await appendOne(second, plans[5] ?? expect.fail('a plan'))).toEqual(refused);
  now.ms += DAY_MS;
  await appendAll(second, plans.slice(5));
  await appendAll(second, plansOf(sessionNamed('c'), 'mnopqr'));
  expect([growth('1970-01-06'), growth('1970-01-07')]).toEqual([undefined, expect.anything()]);
});

test('a damaged count of growth stops nothing', async () => {
  const disk = simulatedDisk();
  const now = { session: 9, daily: 2, ms: 0 };
  await appendAll(limited(disk, now), plansOf(SESSION, 'abcdef'));
  disk.damage(join(ROOT, layout.growth('1970-01-01')), Buffer.from('-7\n1e99\n\u0000\n{}'));
  for (const plan of plansOf(OTHER, 'ghij')) expect((await appendOne(limited(disk, now), plan)).isOk()).toBe(true);
});
