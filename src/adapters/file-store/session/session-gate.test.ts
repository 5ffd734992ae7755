import { setImmediate } from 'node:timers/promises';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { SESSION } from '../../../../test/examples/ids.ts';
import { PLANS } from '../../../../test/examples/session.ts';
import { freshStore } from '../../../../test/fresh-store.ts';
import type { Around } from '../../../../test/simulation/disk/intercept.ts';
import type { SessionStore } from '../../../app/ports/session-store.ts';

test('a permit that has ended is refused before the disk is touched', async () => {
  enforces('witness_dies_with_callback');
  const { store, operations } = freshStore();
  const { sessions } = store;
  const permit = (await sessions.exclusively(SESSION, async (_, given) => ok(given)))._unsafeUnwrap();
  operations.length = 0;
  expect(await sessions.append(permit, PLANS.start)).toEqual(err({ code: 'permit_ended' }));
  expect(operations).toEqual([]);
  await sessions.exclusively(SESSION, async () => {
    operations.length = 0;
    expect(await sessions.append(permit, PLANS.start)).toEqual(err({ code: 'permit_ended' }));
    expect(operations).toEqual([]);
    return ok(undefined);
  });
});

test('the lock is given back only when the last append has been written, whether the work waited for it or not', async () => {
  enforces('lock_covers_whole_append');
  const steps: string[] = [];
  const slowManifest: Around = (operation, run) =>
    operation.name === 'write' && operation.path.endsWith('manifest.jsonl')
      ? slowly(async () => {
          await run();
          steps.push('written');
        })
      : run();
  const { store, another } = freshStore(slowManifest);
  let pending: ReturnType<SessionStore['append']> | undefined;
  await store.sessions.exclusively(SESSION, async (_, permit) => {
    pending = store.sessions.append(permit, PLANS.start);
    return ok(undefined);
  });
  steps.push('given back');
  expect((await pending)?.isOk()).toBe(true);
  expect(steps).toEqual(['written', 'given back']);
  expect((await another().sessions.load(SESSION)).isOk()).toBe(true);
});

test('a plan that is too large is refused before the disk is touched', async () => {
  enforces('append_plan_limits');
  const { store, operations } = freshStore();
  const { sessions } = store;
  await sessions.exclusively(SESSION, async (_, permit) => {
    operations.length = 0;
    const events = Array.from({ length: 1_001 }, () => PLANS.start.events[0] ?? expect.fail('an event'));
    expect(await sessions.append(permit, { ...PLANS.start, events })).toEqual(
      err({ code: 'plan_too_large', measure: 'events', size: 1_001, max: 1_000 }),
    );
    expect(operations).toEqual([]);
    return ok(undefined);
  });
});

/** Everything else that can happen meanwhile does. */
async function slowly(work: () => Promise<void>): Promise<never> {
  for (let i = 0; i < 50; i++) await setImmediate();
  return (await work()) as never;
}
