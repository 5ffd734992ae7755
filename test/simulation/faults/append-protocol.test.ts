import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FileSystem, layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { enforces } from '../../enforces.ts';
import { intercept, isReading, type Operation } from '../disk/intercept.ts';
import { filesOf, simulatedDisk } from '../disk/simulated-disk.ts';
import { systemError } from '../disk/system-error.ts';
import { goOn, NO_PROGRESS, type Progress } from './progress.ts';
import { ROOT, storeOn } from './simulated-store.ts';
import { manifestBehind, SMALL_SESSION, SMALL_SESSION_ID, unsignedRecords } from './small-session.ts';

const MANIFEST = join(ROOT, layout.manifest(SMALL_SESSION_ID));

test('a file is written under a temporary name, flushed, renamed, and the name flushed', async () => {
  enforces('put_if_absent_protocol');
  const { plan, segment } = SMALL_SESSION[1] ?? expect.fail('two plans');
  const [artifact] = plan.artifacts.keys();
  const calls = await callsOfAppend(1);
  for (const place of [segment.place, layout.artifact(artifact ?? expect.fail('an artifact'))]) {
    const target = join(ROOT, place);
    const temporary = calls.find(({ to }) => to === target)?.path ?? expect.fail(`${target} is not named`);
    expect(temporary).not.toBe(target);
    const named = calls.findIndex(({ to }) => to === target);
    expect(calls.filter(({ path }) => path === temporary).map(({ name }) => name)).toEqual([
      'create',
      'write',
      'sync',
      'close',
      'rename',
    ]);
    const flushed = calls.findIndex(
      ({ name, path }, i) => i > named && name === 'syncDir' && path === join(target, '..'),
    );
    expect(flushed).toBeGreaterThan(named);
    expect(flushed).toBeLessThan(calls.findIndex(({ path }) => path === MANIFEST));
  }
});

test('all manifest lines of an append are written at once and flushed last', async () => {
  enforces('manifest_commit_single_write', 'append_order_files_then_manifest');
  const { manifestLines } = SMALL_SESSION[1] ?? expect.fail('two plans');
  expect(Buffer.from(manifestLines).toString().split('\n').length).toBeGreaterThan(2);
  const calls = (await callsOfAppend(1)).filter(({ path }) => !path.startsWith(join(ROOT, layout.cache)));
  const own = calls.filter(({ path }) => path === MANIFEST);
  expect(own.map(({ name }) => name)).toEqual(['openEnd', 'write', 'sync', 'close']);
  expect(unsignedRecords(own[1]?.bytes)).toEqual(unsignedRecords(manifestLines));
  expect(calls.slice(-own.length)).toEqual(own);
});

test('existing content keeps its bytes and is touched', async () => {
  enforces('put_if_absent_refreshes_mtime');
  const { disk } = await behind(1);
  const [ref] = SMALL_SESSION[0]?.plan.snapshots.keys() ?? [];
  const path = join(ROOT, layout.snapshot(ref ?? expect.fail('a snapshot')));
  const [before, bytes] = [disk.fs.modifiedMs(path), disk.fs.read(path)];
  const calls = await callsOfAppend(1);
  expect(calls.filter((call) => call.path === path || call.to === path).map(({ name }) => name)).toEqual(['touch']);
  const { disk: after } = await behind(2);
  expect(after.fs.read(path)).toEqual(bytes);
  expect(after.fs.modifiedMs(path)).toBeGreaterThan(before ?? 0);
});

test('a failed append leaves nothing running that could write later', async () => {
  enforces('append_plan_atomic', 'io_errors_are_typed');
  const { disk, progress } = await behind(1);
  let running = 0;
  const refusing = refusingCalls(disk.fs, ({ name, path }) => name === 'touch' && path.includes(layout.snapshots));
  const slow = intercept(refusing, (operation, run) => {
    if (isReading(operation) || !operation.path.includes('/events/')) return run();
    running += 1;
    const late = async () => {
      for (let turn = 0; turn < 50; turn++) await undefined;
      return run();
    };
    return late().finally(() => {
      running -= 1;
    }) as Promise<never>;
  });
  const refused = await goOn(storeOn(slow), progress, { appends: 2 });
  expect(refused).toMatchObject({ what: 'append 1', refusal: { code: 'io_failed', cause: 'EIO' } });
  expect(running).toBe(0);
});

test('torn bytes are saved beside the manifest before they are cut off', async () => {
  enforces('torn_tail_bytes_kept', 'manifest_torn_tail_ignored');
  const torn = [Buffer.from('{"half a line'), Buffer.from('{"another half'), Buffer.from('{"half a line')];
  const { disk, progress } = await behind(1);
  const path = `${MANIFEST}.torn-${manifestBehind(1).length}`;
  for (const tail of torn) {
    disk.damage(MANIFEST, Buffer.concat([manifestBehind(1), tail]));
    // The write behind the cut fails, so the next one comes to the same place.
    const refusing = refusingCalls(disk.fs, ({ name, path }) => name === 'write' && path === MANIFEST);
    expect(await goOn(storeOn(refusing), progress, { appends: 2 })).toMatchObject({ refusal: { cause: 'EIO' } });
  }
  expect(disk.fs.read(MANIFEST)).toEqual(new Uint8Array(manifestBehind(1)));
  const kept = [...filesOf(disk.state())].filter(([name]) => name.startsWith(path));
  expect(kept.map(([, bytes]) => Buffer.from(bytes).toString())).toEqual(['{"half a line', '{"another half']);
  expect(await goOn(storeOn(disk.fs), progress, { appends: 2 })).toMatchObject({ appends: 2 });
});

async function behind(appends: number) {
  const disk = simulatedDisk();
  const progress = (await goOn(storeOn(disk.fs), NO_PROGRESS, { appends })) as Progress;
  expect(progress).toMatchObject({ appends });
  return { disk, progress };
}

/** The calls of one append in a process that has made the ones before. */
async function callsOfAppend(index: number): Promise<readonly Operation[]> {
  const calls: Operation[] = [];
  const disk = simulatedDisk();
  const store = storeOn(
    intercept(disk.fs, (operation, run) => {
      if (!isReading(operation)) calls.push(operation);
      return run();
    }),
  );
  const before = (await goOn(store, NO_PROGRESS, { appends: index })) as Progress;
  calls.length = 0;
  await goOn(store, before, { appends: index + 1 });
  return calls;
}

function refusingCalls(fs: FileSystem, isRefused: (operation: Operation) => boolean): FileSystem {
  return intercept(fs, (operation, run) => {
    if (isRefused(operation)) throw systemError('EIO');
    return run();
  });
}
