import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { appendAll, appendOne } from '../../../../test/contract/store-under-test.ts';
import { checkpointPlan, openingPlan, sessionNamed } from '../../../../test/e2e/store/named-plans.ts';
import { enforces } from '../../../../test/enforces.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { filesOf, simulatedDisk } from '../../../../test/simulation/disk/simulated-disk.ts';
import { ROOT, storeOn } from '../../../../test/simulation/faults/simulated-store.ts';
import { foldEvents } from '../../../core/views/session-view.ts';
import type { Locks } from '../../lock/locks.ts';
import { layout } from '../disk/disk.ts';
import { storeOf } from '../file-store.ts';

const SESSION = sessionNamed('a');
const opening = openingPlan(SESSION);
const [first, second] = ['x', 'y'].map((name, i) => checkpointPlan(SESSION, { name, firstEventIndex: 3 + 3 * i })) as [
  typeof opening,
  typeof opening,
];

test('a concurrent load sees an append completely or not at all, and does not disturb it', async () => {
  enforces('append_plan_atomic');
  const { sessions } = storeOn(simulatedDisk().fs);
  await appendAll(sessions, [opening]);
  let isDone = false;
  const seen = new Set<number>();
  const looking = (async () => {
    while (!isDone) {
      await Promise.resolve();
      seen.add((await sessions.load(SESSION))._unsafeUnwrap().view.nextEventIndex);
    }
  })();
  const appending = (async () => [await appendOne(sessions, first), await appendOne(sessions, second)])();
  const appended = await appending.finally(() => {
    isDone = true;
  });
  await looking;
  expect(appended.map((result) => result.isOk())).toEqual([true, true]);
  expect([...seen].filter((count) => count % 3 !== 0)).toEqual([]);
  const events = [opening, first, second].flatMap((plan) => plan.events);
  expect(await sessions.load(SESSION)).toEqual(ok({ kind: 'whole', sessionId: SESSION, view: foldEvents(events) }));
});

test.each([
  ['first', []],
  ['second', [opening]],
])('the %s append of a session is not committed once the lock is lost', async (_, before) => {
  enforces('append_needs_witness');
  const disk = simulatedDisk();
  await appendAll(storeOn(disk.fs).sessions, before);
  const manifest = () => filesOf(disk.state()).get(join(ROOT, layout.manifest(SESSION)));
  const was = manifest();
  const plan = [opening, first][before.length] ?? expect.fail('a plan');
  const lost = { kind: 'held', lock: { isHeld: () => false, release: () => undefined } } as const;
  const locks: Locks = { hasSharedLocks: true, tryExclusive: async () => lost, tryShared: async () => lost };
  const waiting = { pause: async () => undefined, nowMs: () => 0 };
  const { sessions } = storeOf({ disk: { fs: disk.fs, root: ROOT }, sha256, locks: async () => locks, waiting });
  expect(await appendOne(sessions, plan)).toMatchObject(err({ code: 'lock_lost' }));
  expect(manifest()).toEqual(was);
  expect((await appendOne(storeOn(disk.fs).sessions, plan)).isOk()).toBe(true);
});
