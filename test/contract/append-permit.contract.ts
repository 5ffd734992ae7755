import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type { AppendPermit, SessionStore } from '../../src/app/ports/session-store.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { enforces } from '../enforces.ts';
import { OTHER_SESSION, SESSION } from '../examples/ids.ts';
import { examplePlans, PLANS } from '../examples/session.ts';
import { appendAll, appendOne, type MakeStore } from './store-under-test.ts';

const { start, advance } = PLANS;
const ENDED = err({ code: 'permit_ended' });
const NOT_THERE = err({ code: 'session_not_found', sessionId: SESSION });
const STARTED = ok({ kind: 'whole', sessionId: SESSION, view: foldEvents(start.events) });
const ADVANCED = ok({
  kind: 'whole',
  sessionId: SESSION,
  view: foldEvents([...start.events, ...advance.events]),
});

/** Only a caller inside the gate may append. */
export function appendPermitContract(makeStore: MakeStore): void {
  test('a permit is valid for several appends of its callback', async () => {
    const { store, again } = makeStore();
    const { sessions } = store;
    const done = await sessions.exclusively(SESSION, async (_, permit) => {
      expect(await sessions.append(permit, start)).toEqual(STARTED);
      return sessions.append(permit, advance);
    });
    expect(done).toEqual(ADVANCED);
    expect(await again().sessions.load(SESSION)).toEqual(ADVANCED);
  });

  test('a permit is invalid once its callback has ended', async () => {
    enforces('witness_dies_with_callback');
    const { store, again } = makeStore();
    const permit = await stash(store.sessions, SESSION);
    expect(await store.sessions.append(permit, start)).toEqual(ENDED);
    expect(await store.sessions.load(SESSION)).toEqual(NOT_THERE);
    expect(await again().sessions.load(SESSION)).toEqual(NOT_THERE);
  });

  test('an old permit does not become valid when the session is locked again', async () => {
    enforces('witness_dies_with_callback');
    const { store, again } = makeStore();
    const { sessions } = store;
    const old = await stash(sessions, SESSION);
    const done = await sessions.exclusively(SESSION, async (_, permit) => {
      expect(await sessions.append(old, start)).toEqual(ENDED);
      return sessions.append(permit, start);
    });
    expect(done).toEqual(STARTED);
    expect(await sessions.append(old, advance)).toEqual(ENDED);
    expect(await again().sessions.load(SESSION)).toEqual(STARTED);
  });

  test('a permit becomes invalid when its callback throws', async () => {
    enforces('witness_dies_with_callback');
    const { store } = makeStore();
    let stashed: AppendPermit | undefined;
    const failing = store.sessions.exclusively(SESSION, async (_, permit) => {
      stashed = permit;
      throw new Error('no luck');
    });
    await expect(failing).rejects.toThrow('no luck');
    expect(await store.sessions.append(stashed ?? expect.fail('no permit'), start)).toEqual(ENDED);
  });

  test('a permit for one session cannot append to another', async () => {
    enforces('append_needs_witness');
    const { store } = makeStore();
    const { sessions } = store;
    const other = examplePlans(OTHER_SESSION);
    await appendAll(sessions, [other.start]);
    const tried = await sessions.exclusively(OTHER_SESSION, (_, permit) => sessions.append(permit, start));
    expect(tried).toEqual(ENDED);
    expect(await sessions.load(SESSION)).toEqual(NOT_THERE);
    expect((await appendOne(sessions, other.advance)).isOk()).toBe(true);
  });

  test('a permit cannot be forged, even after a genuine one', async () => {
    enforces('append_needs_witness');
    const { store } = makeStore();
    const { sessions } = store;
    const tried = await sessions.exclusively(SESSION, async (_, permit) => {
      const forgeries = [{}, { ...permit }, structuredClone(permit), Object.create(permit), SESSION, undefined];
      const refusals: unknown[] = [];
      for (const forged of forgeries) refusals.push(await sessions.append(forged as AppendPermit, start));
      return ok(refusals);
    });
    expect(tried).toEqual(ok(Array(6).fill(ENDED)));
    expect(await sessions.load(SESSION)).toEqual(NOT_THERE);
  });

  test('locking a session that must exist but does not gives no session and creates none', async () => {
    const { store, again } = makeStore();
    const { sessions } = store;
    const done = await sessions.exclusively(
      SESSION,
      async (session, permit) => ok([session, await sessions.append(permit, start)]),
      { mustExist: true },
    );
    expect(done).toEqual(ok([undefined, ENDED]));
    expect(await again().sessions.list()).toEqual(ok([]));
    await appendAll(sessions, [start]);
    const found = await sessions.exclusively(SESSION, (_, permit) => sessions.append(permit, advance), {
      mustExist: true,
    });
    expect(found).toEqual(ADVANCED);
  });

  test('concurrent appends under one permit run one after the other', async () => {
    const { store, again } = makeStore();
    const { sessions } = store;
    const done = await sessions.exclusively(SESSION, async (_, permit) =>
      ok(await Promise.all([sessions.append(permit, start), sessions.append(permit, advance)])),
    );
    expect(done._unsafeUnwrap().map((appended) => appended.isOk())).toEqual([true, true]);
    expect(await again().sessions.load(SESSION)).toEqual(ADVANCED);
  });

  test('an append that was not awaited is complete or absent before the next writer', async () => {
    const { store, again } = makeStore();
    const { sessions } = store;
    await appendAll(sessions, [start]);
    let pending: ReturnType<SessionStore['append']> | undefined;
    const gone = await sessions.exclusively(SESSION, async (_, permit) => {
      pending = sessions.append(permit, advance);
      return ok(permit);
    });
    const next = await again().sessions.exclusively(SESSION, async (session) => ok(session));
    const isThere = (await pending)?.isOk() === true;
    expect(next).toEqual(isThere ? ADVANCED : STARTED);
    expect(await sessions.append(gone._unsafeUnwrap(), isThere ? PLANS.block : advance)).toEqual(ENDED);
    expect(await again().sessions.load(SESSION)).toEqual(isThere ? ADVANCED : STARTED);
  });
}

/** A permit that leaked out of its callback. */
async function stash(sessions: SessionStore, sessionId: SessionId): Promise<AppendPermit> {
  return (await sessions.exclusively(sessionId, async (_, permit) => ok(permit)))._unsafeUnwrap();
}
