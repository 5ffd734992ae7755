import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { digestBytesOf, storeKeyOf } from '../../src/adapters/system.ts';
import type { LoggedAppend, SessionStore } from '../../src/app/ports/session-store.ts';
import { canonicalLines } from '../../src/core/json/canonical-json.ts';
import { salvageSchema } from '../../src/core/log/health.ts';
import { checkSignatures } from '../../src/core/log/log-signatures.ts';
import { chainGenesis, chainOf } from '../../src/core/log/manifest.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { enforces } from '../enforces.ts';
import { OTHER_SESSION, SESSION } from '../examples/ids.ts';
import { examplePlans, PLANS, SESSION_EVENTS } from '../examples/session.ts';
import { sha256 } from '../examples/sha256.ts';
import { appendAll, appendOne, type MakeStore } from './store-under-test.ts';

const ALL_PLANS = Object.values(PLANS);
const SALVAGE = salvageSchema.parse({ health: 'corrupt_tail', lastEventIndex: SESSION_EVENTS.length - 1 });

/** Logs as stored, and partial sessions. */
export function sessionLogsContract(makeStore: MakeStore): void {
  describe('the log of a session', () => {
    test('a log holds every append as given, attested by a chain from the session id', async () => {
      const { store, again } = makeStore();
      await appendAll(store.sessions, ALL_PLANS);
      for (const { logs } of [store, again()]) {
        const log = (await logs.open(SESSION))._unsafeUnwrap();
        expect([log.sessionId, log.health, log.salvage]).toEqual([SESSION, { kind: 'healthy' }, undefined]);
        expect(log.appends).toHaveLength(ALL_PLANS.length);
        for (const [i, { events }] of ALL_PLANS.entries()) {
          const append = log.appends[i] ?? expect.fail('there are as many');
          expect((await log.readEvents(append))._unsafeUnwrap()).toEqual(events);
          const bytes = canonicalLines(events)._unsafeUnwrap();
          expect(append.segment).toMatchObject({ sha256: sha256(bytes), bytes: bytes.length });
        }
        expect(log.appends.flatMap(recordsOf).map(({ chain }) => chain)).toEqual(chains(log.appends));
      }
    });

    test('appends are signed with the key of the store as soon as it has one, and after a rotation with the new one', async () => {
      enforces('log_signatures');
      const { store, again } = makeStore();
      const [first, second, third, ...rest] = ALL_PLANS;
      if (first === undefined || second === undefined || third === undefined) return expect.fail();
      await appendAll(store.sessions, [first]);
      const { current } = (await store.keyring.open())._unsafeUnwrap();
      await appendAll(store.sessions, [second, third]);
      const rotated = (await store.keyring.rotate())._unsafeUnwrap();
      await appendAll(store.sessions, rest);
      for (const { logs } of [store, again()]) {
        const { appends } = (await logs.open(SESSION))._unsafeUnwrap();
        const [old, young] = [storeKeyOf(current), storeKeyOf(rotated.current)];
        const keys = [young.publicKey, old.publicKey];
        expect(appends.map(({ segment }) => segment.sig?.keyid)).toEqual([
          undefined,
          old.keyid,
          old.keyid,
          ...rest.map(() => young.keyid),
        ]);
        expect(checkSignatures(SESSION, appends, { sha256, bytesOf: digestBytesOf, keys })).toEqual({
          kind: 'signed',
          since: second.events[0]?.eventIndex,
          keyids: [old.keyid, young.keyid],
        });
        expect(appends.flatMap(recordsOf).map(({ chain }) => chain)).toEqual(chains(appends));
      }
    });

    test('an open log does not change with later appends', async () => {
      const { store, again } = makeStore();
      const { start, advance } = PLANS;
      await appendAll(store.sessions, [start]);
      const log = (await store.logs.open(SESSION))._unsafeUnwrap();
      await appendAll(again().sessions, [advance]);
      expect(log.appends).toHaveLength(1);
      expect((await log.readEvents(log.appends[0] ?? expect.fail()))._unsafeUnwrap()).toEqual(start.events);
      expect((await store.logs.open(SESSION))._unsafeUnwrap().appends).toHaveLength(2);
    });

    test('the log of a missing session is missing', async () => {
      const { store } = makeStore();
      await appendAll(store.sessions, [examplePlans(OTHER_SESSION).start]);
      expect(await store.logs.open(SESSION)).toEqual(err({ code: 'session_not_found', sessionId: SESSION }));
    });
  });

  describe('a session that is marked as part of one', () => {
    test('a partial session can be read but not continued, by every process', async () => {
      enforces('import_salvage_read_only');
      const { store, again } = makeStore();
      await appendAll(store.sessions, ALL_PLANS);
      await marking(store.sessions, true);
      for (const { sessions, logs, sessionIndex } of [store, again()]) {
        const refusal = { code: 'damaged', damage: { reason: 'salvaged' } };
        expect((await sessions.load(SESSION))._unsafeUnwrapErr()).toMatchObject(refusal);
        expect((await appendOne(sessions, PLANS.start))._unsafeUnwrapErr()).toMatchObject(refusal);
        const prefix = (await sessions.loadValidPrefix(SESSION))._unsafeUnwrap();
        expect([prefix.kind, prefix.view]).toEqual(['salvaged', foldEvents(SESSION_EVENTS)]);
        expect(await sessions.list()).toEqual(ok([SESSION]));
        const log = (await logs.open(SESSION))._unsafeUnwrap();
        expect([log.salvage, log.health.kind, log.appends.length]).toEqual([SALVAGE, 'corrupt_tail', ALL_PLANS.length]);
        expect(await sessionIndex.summaries()).toEqual(ok([]));
      }
    });

    test('a partial session accepts appends under its permit and is complete once the mark is removed', async () => {
      const { store, again } = makeStore();
      const { sessions } = store;
      const done = await sessions.exclusively(SESSION, async (_, permit) => {
        (await sessions.markSalvaged(permit, SALVAGE))._unsafeUnwrap();
        for (const plan of ALL_PLANS) {
          (await sessions.append(permit, plan))._unsafeUnwrap();
          expect((await again().sessions.load(SESSION)).isErr()).toBe(true);
          expect(await again().sessionIndex.summaries()).toEqual(ok([]));
        }
        return sessions.markSalvaged(permit, undefined);
      });
      expect(done).toEqual(ok(undefined));
      for (const one of [store, again()]) {
        expect((await one.sessions.load(SESSION))._unsafeUnwrap().view).toEqual(foldEvents(SESSION_EVENTS));
        expect((await one.sessionIndex.summaries())._unsafeUnwrap()).toHaveLength(1);
      }
      expect((await appendOne(sessions, PLANS.start)).isOk()).toBe(true);
    });

    test('only a valid permit can mark a session as partial', async () => {
      const { store, again } = makeStore();
      await appendAll(store.sessions, [PLANS.start]);
      const ended = await store.sessions.exclusively(SESSION, async (_, permit) => ok(permit));
      expect(await store.sessions.markSalvaged(ended._unsafeUnwrap(), SALVAGE)).toEqual(err({ code: 'permit_ended' }));
      expect((await again().sessions.load(SESSION)).isOk()).toBe(true);
    });
  });
}

async function marking(sessions: SessionStore, isPart: boolean): Promise<void> {
  const mark = isPart ? SALVAGE : undefined;
  (await sessions.exclusively(SESSION, (_, permit) => sessions.markSalvaged(permit, mark)))._unsafeUnwrap();
}

const recordsOf = ({ segment, pins }: LoggedAppend) => [segment, ...pins];

function chains(appends: readonly LoggedAppend[]): readonly string[] {
  const found: string[] = [];
  let chain = chainGenesis(SESSION, sha256);
  for (const record of appends.flatMap(recordsOf)) {
    chain = chainOf(chain, record, sha256);
    found.push(chain);
  }
  return found;
}
