import { expect, test } from 'vitest';
import { appendAll } from '../../contract/store-under-test.ts';
import { enforces } from '../../enforces.ts';
import { crashStates } from '../disk/crash-states.ts';
import type { Inode } from '../disk/inode.ts';
import { intercept, isReading } from '../disk/intercept.ts';
import { type DiskState, type SimulatedDisk, simulatedDisk } from '../disk/simulated-disk.ts';
import { systemError } from '../disk/system-error.ts';
import { type SimulatedStore, storeOn } from './simulated-store.ts';
import { SMALL_SESSION, SMALL_SESSION_ID } from './small-session.ts';

const EVENTS = SMALL_SESSION.at(-1)?.events;

/** Every disk that a crash may leave at any moment of some work, and whether that was over by then. */
async function* crashesDuring(from: DiskState, work: (store: SimulatedStore) => Promise<unknown>) {
  const disk = simulatedDisk(from);
  const points: { readonly state: DiskState; readonly isOver: boolean }[] = [];
  const fs = intercept(disk.fs, (operation, run) => {
    // What becomes of the index is of no importance here, and would be most of what there is to try.
    if (operation.name === 'openEnd' && operation.path.includes('cache')) return Promise.reject(systemError('EACCES'));
    const done = run();
    if (!isReading(operation)) points.push({ state: disk.state(), isOver: false });
    return done;
  });
  await work(storeOn(fs));
  points.push({ state: disk.state(), isOver: true });
  for (const { state, isOver } of points) {
    for (const crashed of crashStates(state, { fullMax: 4_096, pairsMax: 64, seed: 1 })) {
      yield { store: storeOn(simulatedDisk(crashed.state).fs), isOver };
    }
  }
}

/** Some time later, when all of it has reached the disk. */
function settled(disk: SimulatedDisk): DiskState {
  const inodes = [...disk.state()].map(([id, inode]) => [
    id,
    { ...inode, durable: inode.current, pending: [] } as Inode,
  ]);
  return new Map(inodes as [number, Inode][]);
}

async function placeOf({ sessions, bin }: SimulatedStore): Promise<'there' | 'in bin'> {
  const [listed, binned] = [(await sessions.list())._unsafeUnwrap(), (await bin.list())._unsafeUnwrap()];
  expect(listed.length + binned.length).toBe(1);
  return listed.length === 1 ? 'there' : 'in bin';
}

test('a crash during delete or restore leaves the session complete in one place', async () => {
  enforces('deleted_session_comes_back');
  const disk = simulatedDisk();
  const plans = SMALL_SESSION.map(({ plan }) => plan);
  await appendAll(storeOn(disk.fs).sessions, plans);
  const whole = settled(disk);
  await storeOn(disk.fs).bin.put(SMALL_SESSION_ID, 5);
  const deleted = settled(disk);
  const seen = new Map<string, number>();
  for (const [from, aim] of [
    [whole, 'in bin'],
    [deleted, 'there'],
  ] as const) {
    const work = ({ bin }: SimulatedStore) =>
      aim === 'in bin' ? bin.put(SMALL_SESSION_ID, 5) : bin.restore(SMALL_SESSION_ID);
    for await (const { store, isOver } of crashesDuring(from, work)) {
      const place = await placeOf(store);
      if (isOver) expect(place).toBe(aim);
      if (place === 'in bin') (await store.bin.restore(SMALL_SESSION_ID))._unsafeUnwrap();
      const audit = (await store.audit.audit(SMALL_SESSION_ID))._unsafeUnwrap();
      expect([audit.events, audit.findings.filter(({ place }) => place.startsWith('sessions'))]).toEqual([EVENTS, []]);
      const key = `${aim}: ${place}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
  }
  // Each of both may be found after a crash in the middle of either.
  expect([...seen.keys()].sort()).toEqual(['in bin: in bin', 'in bin: there', 'there: in bin', 'there: there']);
});
