import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong, share } from '../../volume.ts';
import { intercept } from '../disk/intercept.ts';
import { EMPTY_DISK, simulatedDisk } from '../disk/simulated-disk.ts';
import { crashExplorer } from './crash-explorer.ts';
import { goOn, NO_PROGRESS, nextReply, type Progress, REPLIES_MAX, servicesOn } from './progress.ts';
import { ALL_HELD, storeOn } from './simulated-store.ts';

const BOUNDS = { fullMax: isLong ? 1_000 : 16, pairsMax: isLong ? 300 : 4, seed: 20 };
const BLANK = { state: EMPTY_DISK, acknowledged: NO_PROGRESS };

test('a reply survives a power cut, also one that a later process gave for a killed one', async () => {
  enforces('crash_loses_no_acknowledged_event');
  const explorer = crashExplorer();
  const points = await explorer.record(BLANK, { appends: 0, replies: REPLIES_MAX });
  for (const point of points) await explorer.explore(point, BOUNDS);
  for (const { state, acknowledged } of share(points, { every: 16 })) {
    const replies = Math.min(acknowledged.replies.length + 1, REPLIES_MAX);
    const later = await explorer.record({ state, acknowledged }, { appends: 0, replies });
    for (const point of later) await explorer.explore(point, BOUNDS);
  }
  const { states, recoveries } = explorer.counts();
  console.log(`walk: ${points.length} moments; ${states} disk states, ${recoveries} of them different`);
  expect(explorer.findings).toEqual([]);
}, 600_000);

test('a process flushes records of others once before it replies from them, without a lock and without writing', async () => {
  enforces('replay_check_then_recheck');
  const disk = simulatedDisk();
  const { replies } = (await goOn(storeOn(disk.fs), NO_PROGRESS, { appends: 0, replies: 2 })) as Progress;
  const calls: string[] = [];
  const heir = servicesOn(storeOn(intercept(disk.fs, logged(calls)), { locks: ALL_HELD }));
  const changes = async () => {
    calls.length = 0;
    expect((await nextReply(heir, replies[0]))._unsafeUnwrap()).toEqual(replies[1]);
    return calls
      .filter((call) => !/^(?:read|size|version|mode|list) /.test(call))
      .map((call) => call.replace(/sess_\w+/, 'ID'));
  };
  expect(await changes()).toEqual([
    expect.stringMatching(/^syncFile \/data\/sessions\/ID\/events\/\d+-\d+\.jsonl$/),
    'syncFile /data/sessions/ID/manifest.jsonl',
    'syncDir /data/sessions/ID',
  ]);
  expect(await changes()).toEqual([]);
});

test('a record that its writer takes back while it is flushed is not replayed without the lock', async () => {
  const disk = simulatedDisk();
  const { replies } = (await goOn(storeOn(disk.fs), NO_PROGRESS, { appends: 0, replies: 2 })) as Progress;
  const takingBack = intercept(disk.fs, ({ name, path }, run) => {
    const lines = Buffer.from(disk.fs.read(path) ?? [])
      .toString()
      .split('\n');
    const before = lines.slice(
      0,
      lines.findLastIndex((line) => line.includes('"segment_closed"')),
    );
    if (name === 'syncFile' && path.endsWith('manifest.jsonl'))
      disk.damage(path, Buffer.from(`${before.join('\n')}\n`));
    return run();
  });
  const refused = await nextReply(servicesOn(storeOn(takingBack, { locks: ALL_HELD })), replies[0]);
  expect(refused).toMatchObject(err({ code: 'session_locked' }));
});

test('a reply without the flush of a record that another process left behind would be lost in a power cut', async () => {
  enforces('crash_mutants_caught');
  const forgetting = crashExplorer((fs) =>
    intercept(fs, ({ name }, run) => (name === 'syncFile' ? (Promise.resolve() as Promise<never>) : run())),
  );
  const points = await forgetting.record(BLANK, { appends: 0, replies: 2 });
  for (const { state, acknowledged } of points) {
    if (acknowledged.replies.length === 0) continue;
    const later = await forgetting.record({ state, acknowledged }, { appends: 0, replies: 2 });
    for (const point of later) await forgetting.explore(point, BOUNDS);
    if (forgetting.findings.length > 0) break;
  }
  expect(forgetting.findings.length).toBeGreaterThan(0);
}, 600_000);

test('replaying its own step, a process only reads', async () => {
  enforces('replay_check_then_recheck');
  const disk = simulatedDisk();
  const calls: string[] = [];
  const store = storeOn(intercept(disk.fs, logged(calls)));
  const { replies } = (await goOn(store, NO_PROGRESS, { appends: 0, replies: 2 })) as Progress;
  calls.length = 0;
  expect((await nextReply(servicesOn(store), replies[0]))._unsafeUnwrap()).toEqual(replies[1]);
  expect(calls.filter((call) => !/^(?:read|size|version|mode|list) /.test(call))).toEqual([]);
});

function logged(calls: string[]): Parameters<typeof intercept>[1] {
  return ({ name, path }, run) => {
    calls.push(`${name} ${path}`);
    return run();
  };
}
