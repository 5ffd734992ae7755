import { setImmediate } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { salvageSchema } from '../../../src/core/log/health.ts';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { crashStates } from '../disk/crash-states.ts';
import { type Failure, failingDisk } from '../disk/failing.ts';
import { fingerprints } from '../disk/fingerprint.ts';
import { intercept, isReading, type Operation } from '../disk/intercept.ts';
import { type DiskState, filesOf, simulatedDisk } from '../disk/simulated-disk.ts';
import { systemError } from '../disk/system-error.ts';
import { sessionWriter } from '../session-writer.ts';
import { ROOT, type SimulatedStore, storeOn } from './simulated-store.ts';
import { manifestBehind, SMALL_SESSION, SMALL_SESSION_ID } from './small-session.ts';

const UNFINISHED = salvageSchema.parse({ health: 'import_unfinished', lastEventIndex: 99 });
const PLANS = SMALL_SESSION.map(({ plan }) => plan);
/** Files that have not got their names yet. */
const STAGED = /[/](?:events|snapshots|artifacts)[/][.]/;
const BOUNDS = { fullMax: isLong ? 2_000 : 32, pairsMax: isLong ? 500 : 8, seed: 20 };

/** Writes a session as an import does: under a mark, the first plan alone and the others together. */
async function importAll({ sessions }: SimulatedStore, plans = PLANS, beforeMany: () => void = () => undefined) {
  return sessions.exclusively(SMALL_SESSION_ID, async (_, permit) => {
    (await sessions.markSalvaged(permit, UNFINISHED))._unsafeUnwrap();
    (await sessions.append(permit, plans[0] ?? expect.fail('plans')))._unsafeUnwrap();
    beforeMany();
    const appended = await sessions.appendMany(permit, plans);
    return appended.isErr() ? appended : sessions.markSalvaged(permit, undefined);
  });
}

/** Enough plans for several batches, each with a file of its own for an artifact. */
function manyPlans() {
  const writer = sessionWriter({ sessionId: SMALL_SESSION_ID });
  const root = writer.startRun();
  for (let i = 0; i < 600; i++) writer.checkpoint(root, { artifacts: [{ name: `a${i}` }] });
  return writer.plans;
}

/** A disk that flushes slowly, for a process that may have only so many files open. */
function slowDisk(openMax: number) {
  const disk = simulatedDisk();
  const open = new Set<string>();
  let most = 0;
  const counting = intercept(disk.fs, ({ name, path }, run) => {
    if (name === 'create' && STAGED.test(path) && open.size >= openMax) throw systemError('EMFILE');
    if (name === 'create') open.add(path);
    if (name === 'close') open.delete(path);
    most = Math.max(most, open.size);
    return run();
  });
  const fs: typeof counting = {
    ...counting,
    create: async (path) => {
      const file = await counting.create(path);
      return { ...file, sync: () => setImmediate().then(file.sync) };
    },
  };
  return { fs, most: () => most };
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
  // Each file is opened once: it is created, written, flushed and closed.
  expect(calls.filter(({ name, path }) => name === 'openEnd' && path.endsWith('.tmp'))).toEqual([]);
  const contents = calls.filter(({ path }) => STAGED.test(path));
  const times = (name: Operation['name']) => contents.filter((call) => call.name === name).length;
  expect(times('create')).toBeGreaterThan(PLANS.length);
  expect([times('write'), times('sync'), times('close')]).toEqual([1, 1, 1].map((each) => each * times('create')));
  // The first is flushed before the last is written.
  const [flushed, written] = [
    contents.findIndex(({ name }) => name === 'sync'),
    contents.findLastIndex(({ name }) => name === 'write'),
  ];
  expect(flushed).toBeLessThan(written);
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

test('an import keeps at most 24 files open', async () => {
  const { fs, most } = slowDisk(Number.POSITIVE_INFINITY);
  expect(await importAll(storeOn(fs), manyPlans())).toEqual(ok(undefined));
  expect(most()).toBeGreaterThan(4);
  expect(most()).toBeLessThanOrEqual(24);
});

test('an import in a process that may open very few files waits until flushed ones are closed', async () => {
  const { fs } = slowDisk(5);
  expect(await importAll(storeOn(fs), manyPlans())).toEqual(ok(undefined));
});

/** Every failure of one call while plans are written together: a full disk takes half of what is written. */
async function failuresOfBatch(): Promise<readonly (Failure & { readonly what: string })[]> {
  const failing = failingDisk(simulatedDisk());
  await importAll(storeOn(failing.fs), PLANS, () =>
    failing.arm({ index: Number.POSITIVE_INFINITY, code: 'EIO', how: 'once' }),
  );
  const codes: { readonly [name in Operation['name']]?: Failure['code'] } = {
    create: 'EMFILE',
    write: 'ENOSPC',
    sync: 'EIO',
    rename: 'ENOSPC',
  };
  return failing.disarm().flatMap(({ name, path }, index) => {
    const code = codes[name];
    if (code === undefined || !STAGED.test(path)) return [];
    const what = `${name} ${path}`;
    return [
      { index, code, how: 'once', what },
      { index, code, how: 'on', what },
    ];
  });
}

test('an import that a file fails reports the first error and names only complete files', async () => {
  const whole = simulatedDisk();
  await importAll(storeOn(whole.fs));
  const complete = filesOf(whole.state());
  const failures = await failuresOfBatch();
  expect(failures.length).toBeGreaterThan(50);
  const wrong: string[] = [];
  for (const { what, ...failure } of failures) {
    const disk = simulatedDisk();
    const failing = failingDisk(disk);
    const imported = await importAll(storeOn(failing.fs), PLANS, () => failing.arm(failure));
    failing.disarm();
    const note = (problem: string) => wrong.push(`${failure.code} ${failure.how} at ${what}: ${problem}`);
    // A process that could open a file later has lost nothing.
    if (imported.isOk() && failure.code !== 'EMFILE') note('imported');
    if (imported.isErr() && !('cause' in imported.error && imported.error.cause === failure.code))
      note(JSON.stringify(imported.error));
    for (const [path, bytes] of filesOf(disk.state())) {
      if (path.endsWith('.tmp')) {
        if (failure.how === 'once') note(`${path} is left`);
      } else if (/[/](?:events|snapshots|artifacts)[/]/.test(path)) {
        if (Buffer.compare(bytes, complete.get(path) ?? new Uint8Array()) !== 0) note(`${path} is torn`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
