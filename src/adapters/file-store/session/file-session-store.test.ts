import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { appendAll, appendOne } from '../../../../test/contract/store-under-test.ts';
import { checkpointPlan, openingPlan, sessionNamed } from '../../../../test/e2e/store/named-plans.ts';
import { enforces } from '../../../../test/enforces.ts';
import { filesOf, type SimulatedDisk, simulatedDisk } from '../../../../test/simulation/disk/simulated-disk.ts';
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

/** What somebody else does to the files of a session while a process has it open. */
const CHANGES: { readonly [what: string]: (disk: SimulatedDisk) => void } = {
  'last segment was cut': ({ fs, damage }) => damage(LAST, (fs.read(LAST) ?? Buffer.of()).slice(0, -40)),
  'last segment was replaced by one of the same size': ({ fs, damage }) =>
    damage(LAST, (fs.read(LAST) ?? Buffer.of()).slice().fill(0x20, 0, 1)),
  'last segment was removed': ({ fs }) => void fs.remove(LAST),
  'manifest was cut inside its last record': ({ fs, damage }) =>
    damage(MANIFEST, (fs.read(MANIFEST) ?? Buffer.of()).slice(0, -40)),
  'manifest was cut to its first append': (disk) => disk.damage(MANIFEST, firstAppend(disk)),
  'manifest and last segment were set back to an earlier state': (disk) => {
    disk.damage(MANIFEST, firstAppend(disk));
    void disk.fs.remove(LAST);
  },
  'manifest was emptied': ({ damage }) => damage(MANIFEST, new Uint8Array()),
  'manifest was removed': ({ fs }) => void fs.remove(MANIFEST),
};
const MANIFEST = join(ROOT, layout.manifest(SESSION));
const LAST = join(ROOT, layout.events(SESSION), '00000003-00000005.jsonl');

function firstAppend({ fs }: SimulatedDisk): Uint8Array {
  const lines = Buffer.from(fs.read(MANIFEST) ?? [])
    .toString()
    .split('\n');
  const second = lines.findIndex((line) => line.includes('"firstEventIndex":3'));
  return Buffer.from(`${lines.slice(0, second).join('\n')}\n`);
}

test.each(Object.entries(CHANGES))(
  'a process that wrote a session does not continue it after its %s',
  async (_, change) => {
    enforces('session_cache_validated_by_manifest');
    const disk = simulatedDisk();
    const { sessions } = storeOn(disk.fs);
    await appendAll(sessions, [opening, first]);
    const before = disk.state();
    change(disk);
    const changed = filesOf(disk.state());
    for (const _ of ['once', 'again']) {
      expect(await sessions.load(SESSION)).toMatchObject({ error: { code: 'damaged' } });
      expect(await appendOne(sessions, second)).toMatchObject({ error: { code: 'damaged' } });
    }
    expect(filesOf(disk.state())).toEqual(changed);
    for (const path of [MANIFEST, LAST]) {
      if (disk.fs.size(path) === undefined) await (await disk.fs.create(path)).close();
      disk.damage(path, filesOf(before).get(path) ?? expect.fail(path));
    }
    expect((await appendOne(sessions, second)).isOk()).toBe(true);
  },
);

test('a process that only reads a session follows whatever is stored, and a deleted session is not damaged', async () => {
  enforces('session_cache_validated_by_manifest');
  const disk = simulatedDisk();
  const [writer, reader] = [storeOn(disk.fs).sessions, storeOn(disk.fs).sessions];
  await appendAll(writer, [opening, first]);
  expect((await reader.load(SESSION))._unsafeUnwrap().view.nextEventIndex).toBe(6);
  disk.damage(MANIFEST, firstAppend(disk));
  await disk.fs.remove(LAST);
  expect((await reader.load(SESSION))._unsafeUnwrap().view.nextEventIndex).toBe(3);
  await disk.fs.removeTree(join(ROOT, layout.session(SESSION)));
  for (const sessions of [writer, reader])
    expect(await sessions.load(SESSION)).toEqual(err({ code: 'session_not_found', sessionId: SESSION }));
});
