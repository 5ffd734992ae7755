import { expect, it } from 'vitest';
import { resumeSession } from '../../src/app/resume/resume-session.ts';
import { enforces } from '../enforces.ts';
import { freshStore } from '../fresh-store.ts';
import { isReading } from '../simulation/disk/intercept.ts';
import { goldenStore, STORED_RUNS, type StoredRun } from './golden-store.ts';

function manyRuns(count: number): readonly StoredRun[] {
  const [run] = STORED_RUNS;
  if (run === undefined) expect.fail();
  return Array.from({ length: count }, (_, i) => ({ ...run, name: `run ${i}`, at: i }));
}

/** What a first and a further call of a new process do to the disk, by kind and by what it is done to. */
async function costOf(count: number) {
  const { store, another, operations } = freshStore();
  const { engine } = await goldenStore(store, manyRuns(count));
  const services = {
    ...engine.services,
    ...another(),
    workspace: { observe: async () => [], tree: async () => undefined },
  };
  const ask = async () => {
    operations.length = 0;
    const reply = await resumeSession(services, { query: 'nowhere', workspace: '/work/shop' });
    expect(reply._unsafeUnwrap().structured['candidates']).toHaveLength(5);
    expect(operations.filter((one) => !isReading(one))).toEqual([]);
    return operations.map(({ name, path }) => `${name} ${path}`);
  };
  return { first: await ask(), warm: await ask() };
}

it('resuming reads the index and the five sessions that it shows, however many there are', async () => {
  enforces('budget_resume', 'resume_is_read_only');
  const [few, many] = [await costOf(8), await costOf(40)];
  const segments = (operations: readonly string[]) =>
    operations.filter((one) => one.startsWith('read ') && one.includes('.jsonl') && one.includes('events'));
  expect(segments(many.first).length).toBe(segments(few.first).length);
  expect(segments(many.first).length).toBeGreaterThan(0);
  expect(many.warm.length).toBe(few.warm.length);
  expect(segments(many.warm)).toEqual([]);
});
