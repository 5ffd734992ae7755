import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { salvageSchema } from '../../../src/core/log/health.ts';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { crashStates } from '../disk/crash-states.ts';
import { fingerprints } from '../disk/fingerprint.ts';
import { intercept, isReading, type Operation } from '../disk/intercept.ts';
import { type DiskState, simulatedDisk } from '../disk/simulated-disk.ts';
import { ROOT, type SimulatedStore, storeOn } from './simulated-store.ts';
import { manifestBehind, SMALL_SESSION, SMALL_SESSION_ID } from './small-session.ts';

const UNFINISHED = salvageSchema.parse({ health: 'import_unfinished', lastEventIndex: 99 });
const PLANS = SMALL_SESSION.map(({ plan }) => plan);
const BOUNDS = { fullMax: isLong ? 2_000 : 32, pairsMax: isLong ? 500 : 8, seed: 20 };

/** Writes a session as an import does: under a mark, the first plan alone and the others together. */
async function importAll({ sessions }: SimulatedStore) {
  return sessions.exclusively(SMALL_SESSION_ID, async (_, permit) => {
    (await sessions.markSalvaged(permit, UNFINISHED))._unsafeUnwrap();
    (await sessions.append(permit, PLANS[0] ?? expect.fail('plans')))._unsafeUnwrap();
    (await sessions.appendMany(permit, PLANS))._unsafeUnwrap();
    return sessions.markSalvaged(permit, undefined);
  });
}

test('plans that are flushed together give the same files as plans that are appended one by one', async () => {
  const disk = simulatedDisk();
  expect(await importAll(storeOn(disk.fs))).toEqual(ok(undefined));
  expect(disk.fs.read(`${ROOT}/sessions/${SMALL_SESSION_ID}/manifest.jsonl`)).toEqual(
    new Uint8Array(manifestBehind(PLANS.length)),
  );
  for (const { segment } of SMALL_SESSION)
    expect(disk.fs.read(`${ROOT}/${segment.place}`)).toEqual(new Uint8Array(segment.bytes));
  const loaded = (await storeOn(disk.fs).sessions.load(SMALL_SESSION_ID))._unsafeUnwrap();
  expect(loaded.view.nextEventIndex).toBe(SMALL_SESSION.at(-1)?.events);
});

test('plans that are flushed together need one flush of the manifest and of each directory', async () => {
  const calls: Operation[] = [];
  const disk = simulatedDisk();
  const recording = intercept(disk.fs, (operation, run) => {
    calls.push(operation);
    return run();
  });
  const { sessions } = storeOn(recording);
  await sessions.exclusively(SMALL_SESSION_ID, async (_, permit) => {
    await sessions.markSalvaged(permit, UNFINISHED);
    await sessions.append(permit, PLANS[0] ?? expect.fail('plans'));
    calls.length = 0;
    return sessions.appendMany(permit, PLANS);
  });
  const named = (name: Operation['name'], dir: string) =>
    calls.filter((call) => call.name === name && call.path.endsWith(dir)).length;
  expect([named('syncDir', '/events'), named('syncDir', '/snapshots'), named('syncDir', SMALL_SESSION_ID)]).toEqual([
    1, 1, 1,
  ]);
  const committed = calls.findIndex(({ name, to }) => name === 'rename' && to?.endsWith('/manifest.jsonl'));
  expect(committed).toBeGreaterThan(0);
  const after = calls.slice(committed + 1).filter(({ name, path }) => name === 'rename' && !path.includes('/cache/'));
  expect(after).toEqual([]);
});

test('a crash during an import leaves a part of the session that is marked as such, or all of it, and gc still works', async () => {
  enforces('import_crash_leaves_marked_part');
  const states: DiskState[] = [];
  const disk = simulatedDisk();
  const noting = intercept(disk.fs, (operation, run) => {
    const done = run();
    if (!isReading(operation) && operation.name !== 'close') states.push(disk.state());
    return done;
  });
  await importAll(storeOn(noting));
  const found = new Set<string>();
  const seen = new Set<string>();
  const prints = fingerprints((path) => !path.endsWith('.tmp') && !path.startsWith(`${ROOT}/cache/`));
  for (const at of states) {
    for (const { state } of crashStates(at, BOUNDS)) {
      const print = prints.of(state);
      if (seen.has(print)) continue;
      seen.add(print);
      const { fs } = simulatedDisk(state);
      const store = storeOn(fs);
      const loaded = await store.sessions.load(SMALL_SESSION_ID);
      const { nextEventIndex } = loaded.isOk() ? loaded.value.view : { nextEventIndex: 0 };
      const what = loaded.isOk()
        ? `${nextEventIndex} events`
        : loaded.error.code === 'damaged'
          ? loaded.error.damage.reason
          : loaded.error.code;
      found.add(what);
      const request = { expiredBeforeMs: 0, binnedBeforeMs: 0, nowMs: 0, isDryRun: true };
      expect((await store.collector.collect(request)).isOk(), what).toBe(true);
    }
  }
  expect([...found].sort()).toEqual([`${SMALL_SESSION.at(-1)?.events} events`, 'salvaged', 'session_not_found']);
});
