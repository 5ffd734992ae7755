import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { appendAll, appendOne } from '../../../../test/contract/store-under-test.ts';
import { checkpointPlan, openingPlan, sessionNamed } from '../../../../test/e2e/store/named-plans.ts';
import { enforces } from '../../../../test/enforces.ts';
import { filesOf, simulatedDisk } from '../../../../test/simulation/disk/simulated-disk.ts';
import { ROOT, storeOn } from '../../../../test/simulation/faults/simulated-store.ts';
import { foldEvents } from '../../../core/views/session-view.ts';
import type { Locks } from '../../lock/locks.ts';
import { layout } from '../disk/disk.ts';

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

/** A session after which a killed writer left a half-written file and a segment that nobody attested. */
async function killedWriter(name: string) {
  const disk = simulatedDisk();
  await appendAll(storeOn(disk.fs).sessions, [opening]);
  const paths = ['.00000003-00000005.jsonl.12ab.tmp', name].map((left) => join(ROOT, layout.events(SESSION), left));
  for (const path of paths) await (await disk.fs.create(path)).close();
  return { disk, left: () => paths.map((path) => disk.fs.size(path) !== undefined) };
}

test.each([
  [59, 'stays', [true, true]],
  [61, 'is removed by the next writer', [false, false]],
])('what a killed writer left %i minutes ago %s', async (minutes, _, left) => {
  enforces('writer_leftovers_removed');
  const killed = await killedWriter('00000003-00000009.jsonl');
  const { sessions } = storeOn(killed.disk.fs, { nowMs: () => minutes * 60_000 });
  await appendAll(sessions, [first]);
  expect(killed.left()).toEqual(left);
  await appendAll(sessions, [second]);
  expect((await storeOn(killed.disk.fs).sessions.load(SESSION)).isOk()).toBe(true);
});

test('a segment takes the place of an orphan of the same name and is not removed with it', async () => {
  enforces('writer_leftovers_removed');
  const killed = await killedWriter('00000003-00000005.jsonl');
  const { sessions } = storeOn(killed.disk.fs);
  await appendAll(sessions, [first, second]);
  expect(killed.left()).toEqual([false, true]);
  expect((await storeOn(killed.disk.fs).sessions.load(SESSION))._unsafeUnwrap().view.nextEventIndex).toBe(9);
});

test('an orphan segment stays while cut-off bytes of the manifest are kept, which may have named it', async () => {
  enforces('writer_leftovers_removed');
  const killed = await killedWriter('00000003-00000009.jsonl');
  const manifest = join(ROOT, layout.manifest(SESSION));
  killed.disk.damage(manifest, Buffer.concat([killed.disk.fs.read(manifest) ?? Buffer.of(), Buffer.from('{"v":1,')]));
  await appendAll(storeOn(killed.disk.fs).sessions, [first]);
  expect(killed.left()).toEqual([false, true]);
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
  const { sessions } = storeOn(disk.fs, { locks });
  expect(await appendOne(sessions, plan)).toMatchObject(err({ code: 'lock_lost' }));
  expect(manifest()).toEqual(was);
  expect((await appendOne(storeOn(disk.fs).sessions, plan)).isOk()).toBe(true);
});
