import { expect, test } from 'vitest';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { sessionRow } from '../../src/core/sessions/board-rows.ts';
import { NO_MARKS } from '../../src/core/sessions/session-state.ts';
import { summarise } from '../../src/core/sessions/session-summary.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { type RandomHistory, randomHistory } from '../simulation/random-history.ts';
import { numberedSession } from '../store-folder.ts';
import { appendAll, type MakeStore } from './store-under-test.ts';

/** An index agrees with the histories of its sessions. */
export function sessionIndexContract(makeStore: MakeStore): void {
  test('an empty store has no summaries', async () => {
    const { store } = makeStore();
    expect((await store.sessionIndex.summaries())._unsafeUnwrap()).toEqual([]);
    expect((await store.sessionIndex.sessions())._unsafeUnwrap()).toEqual([]);
  });

  test('every session is summarised from its history, oldest first, for every reader', async () => {
    const { store, again } = makeStore();
    const histories = [3, 1, 2].map(historyOf);
    for (const { plans } of histories) await appendAll(store.sessions, plans);
    const expected = [...histories].sort((a, b) => a.seed - b.seed).map(summaryOf);
    expect((await store.sessionIndex.summaries())._unsafeUnwrap()).toEqual(expected);
    expect((await again().sessionIndex.summaries())._unsafeUnwrap()).toEqual(expected);
    const health = { kind: 'healthy' } as const;
    const stored = expected.map((summary) =>
      sessionRow({ sessionId: summary.sessionId, summary, health, marks: NO_MARKS }),
    );
    expect((await store.sessionIndex.sessions())._unsafeUnwrap()).toEqual(stored);
    expect((await again().sessionIndex.sessions())._unsafeUnwrap()).toEqual(stored);
  });

  test('later appends of any process appear in the index', async () => {
    const { store, again } = makeStore();
    const other = again();
    const history = historyOf(1);
    const seen = new Set<number | undefined>();
    for (const [i, plan] of history.plans.entries()) {
      await appendAll((i % 2 === 0 ? store : other).sessions, [plan]);
      const events = history.plans.slice(0, i + 1).flatMap((part) => part.events);
      const expected = [summaryOf({ ...history, events })];
      expect((await store.sessionIndex.summaries())._unsafeUnwrap()).toEqual(expected);
      expect((await other.sessionIndex.summaries())._unsafeUnwrap()).toEqual(expected);
      seen.add(expected[0]?.lastEventIndex);
    }
    expect(seen.size).toBe(history.plans.length);
  });
}

function historyOf(seed: number): RandomHistory & { readonly seed: number } {
  return randomHistory({ seed, eventsMin: 60, sessionId: numberedSession(seed), at: () => 1_000 + seed });
}

function summaryOf({ seed, events, snapshots }: RandomHistory) {
  const snapshotOf = (ref: Parameters<typeof snapshots.get>[0]) => {
    const snapshot = snapshots.get(ref);
    if (snapshot === undefined) throw new Error(`${ref} was never written`);
    return snapshot;
  };
  return summarise(numberedSession(seed), foldEvents(events), {
    snapshotOf,
    workflowOf: () => undefined,
    defaults: PRESETS.guided,
  });
}
