import { expect, test } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong, share } from '../../volume.ts';
import { intercept } from '../disk/intercept.ts';
import { EMPTY_DISK, simulatedDisk } from '../disk/simulated-disk.ts';
import { crashExplorer } from './crash-explorer.ts';
import { goOn, NO_PROGRESS, nextReply, type Progress, REPLIES_MAX, servicesOn } from './progress.ts';
import { storeOn } from './simulated-store.ts';

const BOUNDS = { fullMax: isLong ? 1_000 : 16, pairsMax: isLong ? 300 : 4, seed: 20 };
const BLANK = { state: EMPTY_DISK, acknowledged: NO_PROGRESS };

test('a reply survives a power cut, also one that a later process gave for a killed one', async () => {
  enforces('crash_loses_no_acknowledged_event');
  const explorer = crashExplorer();
  const points = await explorer.record(BLANK, { appends: 0, replies: REPLIES_MAX });
  for (const point of points) await explorer.explore(point, BOUNDS);
  for (const { state, acknowledged } of share(points)) {
    const replies = Math.min(acknowledged.replies.length + 1, REPLIES_MAX);
    const later = await explorer.record({ state, acknowledged }, { appends: 0, replies });
    for (const point of later) await explorer.explore(point, BOUNDS);
  }
  const { states, recoveries } = explorer.counts();
  console.log(`walk: ${points.length} moments; ${states} disk states, ${recoveries} of them different`);
  expect(explorer.findings).toEqual([]);
}, 600_000);

test('a process flushes records of others once before it replies from them', async () => {
  const disk = simulatedDisk();
  const { replies } = (await goOn(storeOn(disk.fs), NO_PROGRESS, { appends: 0, replies: 2 })) as Progress;
  const calls: string[] = [];
  const heir = servicesOn(storeOn(intercept(disk.fs, logged(calls))));
  const flushes = async () => {
    calls.length = 0;
    expect((await nextReply(heir, replies[0]))._unsafeUnwrap()).toEqual(replies[1]);
    return calls.filter((call) => /^sync.*manifest\.jsonl$/.test(call)).length;
  };
  expect(await flushes()).toBe(1);
  expect(await flushes()).toBe(0);
  expect(calls.filter((call) => !/^(?:read|size|mode|list) /.test(call))).toEqual([]);
});

test('replaying its own step, a process only reads', async () => {
  enforces('replay_check_then_recheck');
  const disk = simulatedDisk();
  const calls: string[] = [];
  const store = storeOn(intercept(disk.fs, logged(calls)));
  const { replies } = (await goOn(store, NO_PROGRESS, { appends: 0, replies: 2 })) as Progress;
  calls.length = 0;
  expect((await nextReply(servicesOn(store), replies[0]))._unsafeUnwrap()).toEqual(replies[1]);
  expect(calls.filter((call) => !/^(?:read|size|mode|list) /.test(call))).toEqual([]);
});

function logged(calls: string[]): Parameters<typeof intercept>[1] {
  return ({ name, path }, run) => {
    calls.push(`${name} ${path}`);
    return run();
  };
}
