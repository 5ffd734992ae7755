import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { eventIndexSchema } from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';
import { OTHER_RUN, RUN } from '../examples/ids.ts';
import { numberedSession } from '../store-folder.ts';
import { sessionAt } from '../two-sessions.ts';
import { appendAll, type MakeStore } from './store-under-test.ts';

/** Marks that users set on sessions. */
export function sessionMarksContract(makeStore: MakeStore): void {
  const id = numberedSession(1);
  const at = (index: number) => eventIndexSchema.parse(index);

  test('marks persist until removed and are not part of the log', async () => {
    enforces('retention_keep_exempts', 'closed_runs_not_offered');
    const { store, again } = makeStore();
    await appendAll(store.sessions, sessionAt(1, 1_000).plans);
    const events = async () => (await again().sessions.load(id))._unsafeUnwrap().view.nextEventIndex;
    const before = await events();
    expect(await store.marks.of(id)).toEqual(ok({ isKept: false, closed: new Map() }));

    expect(await store.marks.setKept(id, true)).toEqual(ok(undefined));
    expect(await store.marks.setClosed(id, RUN, at(3))).toEqual(ok(undefined));
    expect(await store.marks.setClosed(id, OTHER_RUN, at(4))).toEqual(ok(undefined));
    expect(await store.marks.setClosed(id, RUN, at(5))).toEqual(ok(undefined));
    const closed = new Map([
      [RUN, 5],
      [OTHER_RUN, 4],
    ]);
    expect(await again().marks.of(id)).toEqual(ok({ isKept: true, closed }));
    expect(await again().marks.closed(id)).toEqual(ok(closed));
    expect(await events()).toBe(before);

    for (const _ of ['once', 'twice']) {
      expect(await store.marks.setKept(id, false)).toEqual(ok(undefined));
      for (const run of [RUN, OTHER_RUN])
        expect(await store.marks.setClosed(id, run, undefined)).toEqual(ok(undefined));
    }
    expect(await again().marks.of(id)).toEqual(ok({ isKept: false, closed: new Map() }));
  });

  test('a missing session has no marks and gets none', async () => {
    const { store } = makeStore();
    const refused = err({ code: 'session_not_found', sessionId: id });
    expect(await store.marks.setKept(id, true)).toEqual(refused);
    expect(await store.marks.setClosed(id, RUN, at(1))).toEqual(refused);
    expect(await store.marks.of(id)).toEqual(ok({ isKept: false, closed: new Map() }));
    expect(await store.sessions.list()).toEqual(ok([]));
  });
}
