import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/core/json/canonical-json.ts';
import type { SessionEvent } from '../../src/core/log/event.ts';
import { type SessionId, SessionId as SessionIds } from '../../src/core/log/ids.ts';
import type { AppendPlan } from '../../src/core/log/plan/append-plan.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { enforces } from '../enforces.ts';
import { OTHER_SESSION, SESSION } from '../examples/ids.ts';
import { examplePlans, PLANS, SESSION_EVENTS } from '../examples/session.ts';
import { randomHistory } from '../simulation/random-history.ts';
import { appendAll, appendOne, type MakeStore } from './store-under-test.ts';

const { start, advance, block } = PLANS;
const ALL_PLANS = Object.values(PLANS);

const eventsOf = (plans: readonly AppendPlan[]) => plans.flatMap(({ events }) => events);
const sessionOf = (sessionId: SessionId, events: readonly SessionEvent[]) =>
  ok({ kind: 'whole', sessionId, view: foldEvents(events) });

/** A session store keeps appends complete, once and in order, and returns them. */
export function sessionStoreContract(makeStore: MakeStore): void {
  describe('what was appended', () => {
    test('an append is visible to the next reader', async () => {
      const { store, again } = makeStore();
      for (const [i, plan] of ALL_PLANS.entries()) {
        const expected = sessionOf(SESSION, eventsOf(ALL_PLANS.slice(0, i + 1)));
        expect(await appendOne(store.sessions, plan)).toEqual(expected);
        expect(await store.sessions.load(SESSION)).toEqual(expected);
        expect(await again().sessions.load(SESSION)).toEqual(expected);
      }
    });

    test.each([1, 2])('appends give the same history as their events (seed %i)', async (seed) => {
      const { plans, events } = randomHistory({ seed, eventsMin: 120 });
      const { store, again } = makeStore();
      await appendAll(store.sessions, plans);
      const [sessionId] = (await store.sessions.list())._unsafeUnwrap();
      expect(await again().sessions.load(sessionId ?? SESSION)).toEqual(sessionOf(sessionId ?? SESSION, events));
    });

    test('an append is visible to a reader that has read before', async () => {
      const { store, again } = makeStore();
      const reader = again();
      await appendAll(store.sessions, [start]);
      expect(await reader.sessions.load(SESSION)).toEqual(sessionOf(SESSION, start.events));
      await appendAll(store.sessions, [advance, block]);
      expect(await reader.sessions.load(SESSION)).toEqual(sessionOf(SESSION, eventsOf([start, advance, block])));
    });

    test('every process can continue after an append', async () => {
      const { store, again } = makeStore();
      for (const [i, plan] of ALL_PLANS.entries()) await appendAll((i % 2 === 0 ? store : again()).sessions, [plan]);
      expect(await store.sessions.load(SESSION)).toEqual(sessionOf(SESSION, SESSION_EVENTS));
    });

    test('the same append again changes nothing', async () => {
      enforces('dedupe_repeat_is_noop');
      const { store, again } = makeStore();
      await appendAll(store.sessions, ALL_PLANS);
      const whole = sessionOf(SESSION, SESSION_EVENTS);
      for (const plan of ALL_PLANS) {
        expect(await appendOne(store.sessions, plan)).toEqual(whole);
        expect(await appendOne(again().sessions, plan)).toEqual(whole);
      }
      expect(await again().sessions.load(SESSION)).toEqual(whole);
    });

    test('the valid prefix of a healthy session is all of it', async () => {
      const { store, again } = makeStore();
      await appendAll(store.sessions, ALL_PLANS);
      expect(await store.sessions.loadValidPrefix(SESSION)).toEqual(sessionOf(SESSION, SESSION_EVENTS));
      expect(await again().sessions.loadValidPrefix(SESSION)).toEqual(sessionOf(SESSION, SESSION_EVENTS));
    });

    test('every stored reply is returned to the byte', async () => {
      const { store, again } = makeStore();
      await appendAll(store.sessions, ALL_PLANS);
      const advances = SESSION_EVENTS.filter((event) => event.kind === 'advance_recorded');
      expect(advances.length).toBeGreaterThan(2);
      for (const { eventIndex, data } of advances) {
        for (const { sessions } of [store, again()]) {
          const stored = (await sessions.storedReply(SESSION, eventIndex))._unsafeUnwrap();
          expect(canonicalJson(stored)).toEqual(canonicalJson(data.reply));
        }
      }
    });
  });

  describe('several sessions', () => {
    const oldest = SessionIds.schema.parse('sess_0000000000000001');
    const ids = [SESSION, OTHER_SESSION, oldest];

    test('sessions are independent', async () => {
      const { store, again } = makeStore();
      const plans = ids.map((id) => Object.values(examplePlans(id)));
      for (const i of ALL_PLANS.keys()) {
        await Promise.all(plans.map((ofSession) => appendAll(store.sessions, ofSession.slice(i, i + 1))));
      }
      for (const [i, id] of ids.entries()) {
        expect(await again().sessions.load(id)).toEqual(sessionOf(id, eventsOf(plans[i] ?? [])));
      }
    });

    test('sessions are listed by age', async () => {
      const { store, again } = makeStore();
      expect(await store.sessions.list()).toEqual(ok([]));
      for (const id of ids) await appendAll(store.sessions, [examplePlans(id).start]);
      expect(await store.sessions.list()).toEqual(ok([oldest, SESSION, OTHER_SESSION]));
      expect(await again().sessions.list()).toEqual(ok([oldest, SESSION, OTHER_SESSION]));
    });
  });

  describe('a session that is not there', () => {
    const notFound = err({ code: 'session_not_found', sessionId: SESSION });

    test('a missing session is refused by every operation', async () => {
      const { store } = makeStore();
      await appendAll(store.sessions, [examplePlans(OTHER_SESSION).start]);
      expect(await store.sessions.load(SESSION)).toEqual(notFound);
      expect(await store.sessions.loadValidPrefix(SESSION)).toEqual(notFound);
      const index = start.events[0]?.eventIndex ?? expect.fail('a plan has events');
      expect(await store.sessions.storedReply(SESSION, index)).toEqual(notFound);
    });

    test('locking a missing session does not create it', async () => {
      const { store, again } = makeStore();
      const seen = await store.sessions.exclusively(SESSION, async (session) => ok(session));
      expect(seen).toEqual(ok(undefined));
      expect(await store.sessions.load(SESSION)).toEqual(notFound);
      expect(await again().sessions.load(SESSION)).toEqual(notFound);
    });
  });

  describe('writers of one session', () => {
    test.each(['one process', 'two processes'])('writers of one session take turns, in %s', async (where) => {
      const { store, again } = makeStore();
      const steps: string[] = [];
      const write = ({ sessions }: typeof store, name: string) =>
        sessions.exclusively(SESSION, async (session, permit) => {
          steps.push(`${name} begins`);
          // Gives other calls a chance to run in between.
          for (let i = 0; i < 20; i++) await Promise.resolve();
          const appended = await sessions.append(permit, session === undefined ? start : advance);
          steps.push(`${name} ends`);
          return appended.map(() => session?.sessionId);
        });
      const both = [write(store, 'one'), write(where === 'one process' ? store : again(), 'other')];
      const seen = (await Promise.all(both)).map((written) => written._unsafeUnwrap());
      expect(seen.toSorted()).toEqual([SESSION, undefined]);
      // Across processes only the outcome counts: a writer that was overtaken may begin again.
      const names = seen[0] === undefined ? ['one', 'other'] : ['other', 'one'];
      if (where === 'one process') expect(steps).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
      expect(await store.sessions.load(SESSION)).toEqual(sessionOf(SESSION, eventsOf([start, advance])));
    });

    test('writers of one session see all earlier appends', async () => {
      const { store, again } = makeStore();
      const clients = [store, again(), again(), store, again()];
      const written: string[] = [];
      await Promise.all(
        clients.map(async ({ sessions }) => {
          for (let isDone = false; !isDone; ) {
            const wrote = await sessions.exclusively(SESSION, async (session, permit) => {
              const next = ALL_PLANS.find(
                ({ events }) => events[0]?.eventIndex === (session?.view.nextEventIndex ?? 0),
              );
              if (next === undefined) return ok(undefined);
              return (await sessions.append(permit, next)).map(() => next.events[0]?.dedupeKey);
            });
            // On a busy machine a writer may wait longer for its turn than a call is allowed to.
            if (wrote.isErr() && wrote.error.code === 'session_locked') continue;
            isDone = wrote._unsafeUnwrap() === undefined;
            written.push(...[wrote._unsafeUnwrap() ?? []].flat());
          }
        }),
      );
      // Each is written once. In which order the writers hear of it does not matter.
      expect(written.toSorted()).toEqual(ALL_PLANS.map(({ events }) => events[0]?.dedupeKey).toSorted());
      expect(await again().sessions.load(SESSION)).toEqual(sessionOf(SESSION, SESSION_EVENTS));
    });

    test('a failed writer does not block others', async () => {
      const { store, again } = makeStore();
      const failing = store.sessions.exclusively(SESSION, () => Promise.reject(new Error('no luck')));
      await expect(failing).rejects.toThrow('no luck');
      const refused = await store.sessions.exclusively(SESSION, async () => err({ code: 'not_today' as const }));
      expect(refused).toEqual(err({ code: 'not_today' }));
      expect((await appendOne(again().sessions, start)).isOk()).toBe(true);
      expect(await appendOne(store.sessions, advance)).toEqual(sessionOf(SESSION, eventsOf([start, advance])));
    });
  });
}
