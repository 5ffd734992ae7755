import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { snapshotRefSchema } from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';
import { OTHER_SESSION } from '../examples/ids.ts';
import { examplePlans, PLANS } from '../examples/session.ts';
import { digest } from '../examples/sha256.ts';
import { appendAll, appendOne, type MakeStore } from './store-under-test.ts';

/** Snapshots are stored with appends and found by hash, whichever session stored them. */
export function snapshotStoreContract(makeStore: MakeStore): void {
  test('every snapshot of an append is found by its hash, at once and by every reader', async () => {
    const { store, again } = makeStore();
    await appendAll(store.sessions, Object.values(PLANS));
    for (const [ref, snapshot] of Object.values(PLANS).flatMap(({ snapshots }) => [...snapshots])) {
      expect(await store.snapshots.get(ref)).toEqual(ok(snapshot));
      expect(await again().snapshots.get(ref)).toEqual(ok(snapshot));
    }
  });

  test('a snapshot of two sessions is stored once', async () => {
    enforces('snapshot_cas_global');
    const { store, again } = makeStore();
    const [ref, snapshot] = [...PLANS.start.snapshots][0] ?? expect.fail('there are snapshots');
    await appendAll(store.sessions, [PLANS.start, examplePlans(OTHER_SESSION).start]);
    expect(await again().snapshots.get(ref)).toEqual(ok(snapshot));
  });

  test('a snapshot does not exist before its append or after a refused one', async () => {
    const { store, again } = makeStore();
    const [ref = expect.fail('there are snapshots')] = PLANS.start.snapshots.keys();
    const missing = err({ code: 'damaged', damage: { reason: 'content_missing', offset: 0 } });
    expect(await store.snapshots.get(ref)).toMatchObject(missing);
    expect((await appendOne(store.sessions, PLANS.advance)).isErr()).toBe(true);
    expect(await again().snapshots.get(ref)).toMatchObject(missing);
    const unknown = snapshotRefSchema.parse(digest('unknown'));
    await appendAll(store.sessions, [PLANS.start]);
    expect(await store.snapshots.get(ref)).toMatchObject({ value: PLANS.start.snapshots.get(ref) });
    expect(await store.snapshots.get(unknown)).toMatchObject(missing);
  });
}
