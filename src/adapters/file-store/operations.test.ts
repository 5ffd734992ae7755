import { expect, test } from 'vitest';
import { appendAll } from '../../../test/contract/store-under-test.ts';
import { countingFileSystem } from '../../../test/e2e/store/counting-file-system.ts';
import { enforces } from '../../../test/enforces.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from './file-store.ts';

function lineOfSteps(steps: number) {
  const writer = sessionWriter({ sessionId: numberedSession(1) });
  let node = writer.startRun();
  for (let step = 1; step <= steps; step++)
    node = writer.advance(node, { note: { name: `note ${step}`, text: 'note' } });
  return writer.plans;
}

test('an append needs few more file operations than the files themselves, early and late', async () => {
  enforces('budget_append_wall');
  const { fs, taken } = countingFileSystem();
  const folder = storeFolder();
  const { sessions } = storeOf({ ...folder, disk: { ...folder.disk, fs } });
  const seen: ReturnType<typeof taken>[] = [];
  for (const plan of lineOfSteps(200)) {
    taken();
    await appendAll(sessions, [plan]);
    seen.push(taken());
  }
  const [early, late] = [seen[10], seen[200]];
  expect(late?.operations).toEqual(early?.operations);
  expect(early?.operations).toMatchObject({ create: 1, openEnd: 2, rename: 1, touch: 1 });
  expect(early?.operations).not.toHaveProperty('list');
});

test('opening a session reads its manifest and every segment once and checks one mark', async () => {
  enforces('budget_cold_first_call');
  const folder = storeFolder();
  const plans = lineOfSteps(50);
  await appendAll(storeOf(folder).sessions, plans);
  const { fs, taken } = countingFileSystem();
  const { sessions } = storeOf({ ...folder, disk: { ...folder.disk, fs } });
  expect((await sessions.load(numberedSession(1))).isOk()).toBe(true);
  expect(taken().operations).toEqual({ list: 1, read: 1 + plans.length, size: 1, version: 1 });
  await sessions.load(numberedSession(1));
  expect(taken().operations).toEqual({ read: 1, version: 1 });
});
