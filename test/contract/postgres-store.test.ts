import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { type Database, openDatabase } from '../../src/adapters/postgres-store/database.ts';
import { migrate, pendingMigrations } from '../../src/adapters/postgres-store/migrations.ts';
import { postgresStore } from '../../src/adapters/postgres-store/postgres-store.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { AUTONOMY } from '../../src/core/log/autonomy.ts';
import type { AppendPlan } from '../../src/core/log/plan/append-plan.ts';
import { rankRuns } from '../../src/core/resume/rank-runs.ts';
import { resumeQuestion } from '../../src/core/resume/resume-question.ts';
import { healthySummaries } from '../../src/core/sessions/board-rows.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { BUNDLED, CORPUS, FIXTURES } from '../compiler/compile-file.ts';
import { filledCall } from '../examples/filled-call.ts';
import { SESSION } from '../examples/ids.ts';
import { PLANS } from '../examples/session.ts';
import { sha256 } from '../examples/sha256.ts';
import { cuttingProxy, startPostgres, type TestPostgres } from '../postgres.ts';
import type { Call, Reply } from '../simulation/agent/reader/obedient-reader.ts';
import { walkToEnd } from '../simulation/agent/walk/walk-to-end.ts';
import { memoryWorld } from '../simulation/agent/world/memory-world.ts';
import { workflowFile } from '../simulation/agent/world/workflow-files.ts';
import { randomHistory } from '../simulation/random-history.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { numberedSession } from '../store-folder.ts';
import { drawnSeed, isLong, share } from '../volume.ts';
import { witnessed } from './named-space.ts';
import { storeContract } from './store.contract.ts';
import { appendAll, appendOne, type MarkedStore } from './store-under-test.ts';
import { upkeepContract } from './upkeep.contract.ts';

const PROJECT = [...FIXTURES, ...CORPUS].map((file) => workflowFile(file, { kind: 'project' }));
const FILES = [...BUNDLED, ...FIXTURES, ...CORPUS].map((file, at) => ({ name: file.name, file, at }));
/** A walk takes a second on a busy machine. */
const WALKED = share(FILES, { every: 12, from: 0 });

const SERVER_ROLE = 'contract_server';
const postgres: TestPostgres | undefined = await startPostgres();

describe.runIf(postgres)('a store on PostgreSQL', () => {
  const url = postgres?.url ?? '';
  let database: Database;
  /** As a server has it: under a role that can neither change nor delete what was recorded. */
  let server: Database;
  let spaces = 0;

  beforeAll(async () => {
    database = openDatabase({ url });
    await database.run({ name: '', text: `create role ${SERVER_ROLE} login password 'server'` }, []);
    server = openDatabase({
      url: Object.assign(new URL(url), { username: SERVER_ROLE, password: 'server' }).href,
    });
    const steps = (await migrate(database, { isDryRun: false, serverRole: SERVER_ROLE }))._unsafeUnwrap();
    expect(steps.length).toBeGreaterThan(0);
    // Every test has a space of its own.
    await database.run(
      { name: 'spaces', text: 'insert into wr.space (name) select i::text from generate_series(1, 400) i' },
      [],
    );
  });
  afterAll(async () => {
    await server.close();
    await database.close();
    await postgres?.stop();
  });

  it('a migrated database has nothing left to migrate', async () => {
    expect((await pendingMigrations(database))._unsafeUnwrap()).toEqual([]);
    expect((await migrate(database, { isDryRun: false }))._unsafeUnwrap()).toEqual([]);
  });

  const seen = { all: new Set<string>(), nameless: new Set<string>() };
  const spaceOf = (through = database) => {
    spaces += 1;
    const watched = witnessed(through, spaces, seen);
    return { database: watched, spaceId: spaces, sha256, masterKey: () => Buffer.alloc(32, 7) };
  };

  it.each(WALKED)(
    '$name gives the same replies to the last byte on PostgreSQL, in files and in memory',
    async ({ file, at }) => {
      const mode = AUTONOMY[at % AUTONOMY.length];
      const start = {
        tool: 'start_workflow',
        arguments: { workflowId: JSON.parse(file.text).id, goal: 'Try it.', mode },
      };
      const walkOver = async (store: Store | undefined) => {
        const world = memoryWorld(PROJECT, { seed: 11, store });
        const chat = await world.newChat();
        const replies: Reply[] = [];
        const send = async (call: Call) => {
          const reply = await chat.call(call);
          replies.push(reply);
          return reply;
        };
        const { isComplete } = await walkToEnd(send, start, { sight: 'data', callsMax: 400, services: world.services });
        await chat.close();
        return { isComplete, replies };
      };
      const inMemory = await walkOver(undefined);
      expect(inMemory.isComplete).toBe(true);
      // Every walk has the same session id, each in a space of its own: nothing of another space may be in a reply.
      expect(await walkOver(postgresStore(spaceOf()))).toEqual(inMemory);
      const folder = mkdtempSync(join(tmpdir(), 'workrail-walked-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      expect(await walkOver(fileStore(folder, sha256))).toEqual(inMemory);
      // Otherwise the walk used another store.
      expect(readdirSync(join(folder, 'sessions'))).toHaveLength(1);
    },
  );

  it('ranking what is found for a question gives what ranking all sessions gives, after every append', async () => {
    const parts = spaceOf();
    const stores = [postgresStore(parts), postgresStore(parts)];
    const random = seededRandom(drawnSeed());
    const left = Array.from({ length: 6 }, (_, seed) => [
      ...randomHistory({ seed, eventsMin: 40, sessionId: numberedSession(seed), at: () => 1_000 + seed }).plans,
    ]).filter((plans) => plans.length > 0);
    let skipped = 0;
    while (left.length > 0) {
      const plans = random.pick(left);
      const plan = plans.shift();
      if (plan !== undefined) await appendAll(random.pick(stores).sessions, [plan]);
      if (plans.length === 0) left.splice(left.indexOf(plans), 1);
      const index = random.pick(stores).sessionIndex;
      const all = (await index.summaries())._unsafeUnwrap();
      for (const clues of [{}, { query: 'a' }, { gitBranch: 'main' }, { includeFinished: true }]) {
        const question = resumeQuestion(clues, { workspaces: ['/repo'], principal: 'me', branch: 'main' });
        const found = (await index.find?.(question))?._unsafeUnwrap() ?? [];
        expect(rankRuns(healthySummaries(found), question)).toEqual(rankRuns(all, question));
        skipped += all.length - found.length;
      }
    }
    // Otherwise nothing was left out, and nothing was tested.
    expect(skipped).toBeGreaterThan(0);
  });

  it('a summary that an older release stored is made again once, and not for every list', async () => {
    const parts = spaceOf();
    const store = postgresStore(parts);
    const { plans } = randomHistory({ seed: 1, eventsMin: 20, sessionId: numberedSession(1) });
    await appendAll(store.sessions, plans);
    const truth = (await store.sessionIndex.summaries())._unsafeUnwrap();
    const stored = async () =>
      (
        await database.run({ name: 'summary_of', text: 'select summary from wr.summary where space_id = $1' }, [
          parts.spaceId,
        ])
      )._unsafeUnwrap();
    const current = await stored();
    await database.run(
      {
        name: 'older_summary',
        text: `update wr.summary set summary = '{"v": "1", "fields": []}' where space_id = $1`,
      },
      [parts.spaceId],
    );
    expect(await stored()).not.toEqual(current);
    expect((await postgresStore(parts).sessionIndex.summaries())._unsafeUnwrap()).toEqual(truth);
    expect(await stored()).toEqual(current);
  });

  it('writers whose connections are cut before and after statements lose and repeat nothing', async () => {
    const { plans, events } = randomHistory({ seed: drawnSeed() % 1000, eventsMin: isLong ? 2_000 : 150 });
    const [{ sessionId }] = plans as [AppendPlan];
    const parts = spaceOf();
    const proxies = await Promise.all([1, 2, 3].map((seed) => cuttingProxy(url, seededRandom(seed + drawnSeed()))));
    const databases = proxies.map((proxy) => openDatabase({ url: proxy.url }));
    const acknowledged: string[] = [];
    const refusals = new Set<string>();
    await Promise.all(
      databases.map(async (cut) => {
        const { sessions } = postgresStore({ ...parts, database: cut });
        for (let next: AppendPlan | undefined = plans[0]; next !== undefined; ) {
          const wrote = await sessions.exclusively(sessionId, async (session, permit) => {
            next = plans.find((plan) => plan.events[0]?.eventIndex === (session?.view.nextEventIndex ?? 0));
            return next === undefined ? ok(undefined) : (await sessions.append(permit, next)).map(() => next);
          });
          if (wrote.isOk() && wrote.value !== undefined) acknowledged.push(wrote.value.events[0]?.dedupeKey ?? '');
          else if (wrote.isErr()) refusals.add(wrote.error.code);
        }
      }),
    );
    const cuts = proxies.reduce((sum, proxy) => sum + proxy.cuts(), 0);
    await Promise.all([...databases.map((cut) => cut.close()), ...proxies.map((proxy) => proxy.close())]);
    expect(cuts).toBeGreaterThan(0);
    expect([...refusals].filter((code) => code !== 'unreachable' && code !== 'session_locked')).toEqual([]);
    const stored = (await postgresStore(parts).sessions.load(sessionId))._unsafeUnwrap();
    expect(stored.view).toEqual(foldEvents(events));
    // Two writers of the same bytes may both hear that they are there; what anybody heard of is there.
    const keys = new Set(events.map(({ dedupeKey }) => dedupeKey as string));
    expect(acknowledged.filter((key) => !keys.has(key))).toEqual([]);
    console.log(`${plans.length} appends, ${acknowledged.length} acknowledged, ${cuts} connections cut`);
  }, 120_000);

  it('a process that remembers more than the database has says so once, and then follows the database', async () => {
    const parts = spaceOf();
    const { sessions } = postgresStore(parts);
    await appendAll(sessions, [PLANS.start, PLANS.advance]);
    const [{ head, next }] = (await asked(
      `select encode(chain, 'hex') as head, next_event_index::int as next from wr.session where space_id = ${parts.spaceId}`,
    )) as [{ head: string; next: number }];
    await appendAll(sessions, [PLANS.block]);
    // What a standby without the last append would have.
    await asked(`delete from wr.append where space_id = ${parts.spaceId} and first_event_index >= ${next}`);
    await asked(
      `update wr.session set chain = decode('${head}', 'hex'), next_event_index = ${next},
         next_manifest_index = (select max((r->>'manifestIndex')::int) + 1 from wr.append a, jsonb_array_elements(a.records) r
           where a.space_id = ${parts.spaceId}) where space_id = ${parts.spaceId}`,
    );
    expect((await sessions.load(SESSION))._unsafeUnwrapErr()).toMatchObject({ code: 'store_went_back', found: next });
    expect((await sessions.load(SESSION))._unsafeUnwrap().view.nextEventIndex).toBe(next);
    expect((await appendOne(sessions, PLANS.block)).isOk()).toBe(true);
  });

  it('equal sessions of two spaces are apart in every table', async () => {
    const [one, other] = [spaceOf(), spaceOf()].map((parts) => postgresStore(parts)) as readonly MarkedStore[] as [
      MarkedStore,
      MarkedStore,
    ];
    await appendAll(one.sessions, [PLANS.start]);
    expect(await other.sessions.list()).toEqual(ok([]));
    expect((await other.sessions.load(SESSION))._unsafeUnwrapErr()).toMatchObject({ code: 'session_not_found' });
    for (const ref of PLANS.start.snapshots.keys()) expect((await other.snapshots.get(ref)).isErr()).toBe(true);
    await appendAll(other.sessions, [PLANS.start, PLANS.advance]);
    expect((await one.sessions.load(SESSION))._unsafeUnwrap().view).toEqual(foldEvents(PLANS.start.events));
    const keys = await Promise.all([one, other].map(async ({ keyring }) => (await keyring.open())._unsafeUnwrap()));
    expect(keys[0]?.current).not.toEqual(keys[1]?.current);
  });

  it.each(['by its statements alone', 'by row level security as well'])(
    'no reply of a space has a byte of another one with the same sessions and keys, kept apart %s',
    async (how) => {
      const isConfined = how.includes('row level');
      const own = isConfined ? await openAsRole(database, url) : database;
      const names = ['zebra', 'quokka'] as const;
      const seed = drawnSeed();
      const worlds = names.map((name) => {
        const parts = spaceOf();
        const through = isConfined ? own.confinedTo(parts.spaceId) : own;
        // The same seed: both have the same session ids, run ids and keys.
        return { name, world: memoryWorld([], { seed, store: postgresStore({ ...parts, database: through }) }) };
      });
      const chats = await Promise.all(worlds.map(({ world }) => world.newChat()));
      const chance = seededRandom(seed);
      const known: Call[] = [];
      const shown = { zebra: 0, quokka: 0 };
      const calls = isLong ? 10_000 : 160;
      for (let i = 0; i < calls; i++) {
        const at = chance.below(2);
        const name = names[at] ?? 'zebra';
        const call = anyCall(chance, { name, number: i, known });
        const reply = await chats[at]?.call(call);
        const text = JSON.stringify(reply);
        expect(text, `seed ${seed}, call ${i}`).not.toContain(`secret of ${names[1 - at]}`);
        if (text.includes(`secret of ${name}`)) shown[name] += 1;
        const { nextCall } = (reply?.structuredContent ?? {}) as Record<string, never>;
        if (nextCall !== undefined && nextCall !== null) known.push(filledCall(nextCall, undefined));
      }
      expect(Math.min(shown.zebra, shown.quokka, known.length)).toBeGreaterThan(calls / 20);
      await Promise.all(chats.map((chat) => chat.close()));
      if (isConfined) {
        // A statement that forgets its space sees one space only.
        const [{ spaceId }] = [spaceOf()];
        const forgetful = { name: 'forgetful', text: 'select distinct space_id from wr.append' };
        const seen = await Promise.all([1, 2].map(async (back) => own.confinedTo(spaceId - back).run(forgetful, [])));
        expect(seen.map((rows) => rows._unsafeUnwrap())).toEqual([
          [{ space_id: spaceId - 1 }],
          [{ space_id: spaceId - 2 }],
        ]);
        expect((await own.run(forgetful, []))._unsafeUnwrap().length).toBeGreaterThan(1);
        await own.close();
      }
    },
    isLong ? 1_800_000 : 60_000,
  );

  it('keys are not in the database as they are, and another master key or another space does not open them', async () => {
    const parts = spaceOf();
    const { current } = (await postgresStore(parts).keyring.open())._unsafeUnwrap();
    const [{ sealed }] = (await asked(`select sealed from wr.keyring where space_id = ${parts.spaceId}`)) as [
      { sealed: Buffer },
    ];
    expect(sealed.includes(Buffer.from(current))).toBe(false);
    expect(sealed.toString('latin1')).not.toContain(Buffer.from(current).toString('base64url'));
    const wrong = postgresStore({ ...parts, masterKey: () => Buffer.alloc(32, 8) });
    expect((await wrong.keyring.find())._unsafeUnwrapErr()).toEqual({ code: 'master_key_unfit' });
    const moved = spaceOf();
    await asked(
      `insert into wr.keyring select ${moved.spaceId}, version, sealed from wr.keyring where space_id = ${parts.spaceId}`,
    );
    expect((await postgresStore(moved).keyring.find())._unsafeUnwrapErr()).toEqual({ code: 'master_key_unfit' });
    // Nobody gets keys while those of a space do not open.
    await asked(`delete from wr.keyring where space_id = ${moved.spaceId}`);
  });

  it('changed, swapped and missing rows are found, and what is before them can be read', async () => {
    const harms = {
      segment_digest_mismatch: "update wr.append set events = overlay(events placing '\\x20' from 40) where",
      segment_missing: 'delete from wr.append where',
      manifest_chain_broken: `update wr.append set records = jsonb_set(records, '{0,bytes}', '7') where`,
    };
    for (const [reason, harm] of Object.entries(harms)) {
      const parts = spaceOf();
      await appendAll(postgresStore(parts).sessions, [PLANS.start, PLANS.advance, PLANS.block]);
      await asked(`${harm} space_id = ${parts.spaceId} and first_event_index = ${PLANS.start.events.length}`);
      const { sessions } = postgresStore(parts);
      const found = (await sessions.load(SESSION))._unsafeUnwrapErr();
      const expected = reason === 'segment_missing' ? 'manifest_chain_broken' : reason;
      expect(found).toMatchObject({ code: 'damaged', damage: { reason: expected } });
      const prefix = (await sessions.loadValidPrefix(SESSION))._unsafeUnwrap();
      expect(prefix.view).toEqual(foldEvents(PLANS.start.events));
      expect((await appendOne(sessions, PLANS.block)).isErr()).toBe(true);
    }
  });

  const asked = async (text: string) => (await database.run({ name: '', text }, []))._unsafeUnwrap();

  upkeepContract(() => {
    const parts = spaceOf(server);
    // Only the owner of the tables collects.
    const { collector } = postgresStore({ ...parts, database });
    return {
      store: { ...postgresStore(parts), collector },
      again: () => postgresStore(parts),
      age: () => undefined,
      damage: async (sessionId) => {
        await asked(
          `update wr.append set events = overlay(events placing '\\x20' from 40)
           where space_id = ${parts.spaceId} and session_id = '${sessionId}' and first_event_index = 0`,
        );
      },
    };
  });
  storeContract(() => {
    const parts = spaceOf(server);
    return { store: postgresStore(parts), again: () => postgresStore(parts) };
  });

  it('every statement of a store names its space first', async () => {
    expect([...seen.nameless]).toEqual([]);
    // Otherwise the tests above ran too few of them to say so.
    expect(seen.all.size).toBeGreaterThan(25);
    const forgetful = { name: 'wr_forgetful', text: 'select 1 from wr.session where session_id = $2' };
    await spaceOf().database.run(forgetful, [spaces, SESSION]);
    await spaceOf().database.run({ name: 'wr_other', text: 'select 1 where space_id = $1' }, [spaces - 1]);
    expect([...seen.nameless]).toEqual(['wr_forgetful', 'wr_other']);
  });
});

/** Row level security does not apply to a superuser, which the other tests are. */
async function openAsRole(database: Database, url: string): Promise<Database> {
  for (const text of [
    "create role confined login password 'confined'",
    'grant usage on schema wr to confined',
    'grant all on all tables in schema wr to confined',
  ]) {
    expect((await database.run({ name: '', text }, [])).isOk()).toBe(true);
  }
  return openDatabase({ url: Object.assign(new URL(url), { username: 'confined', password: 'confined' }).href });
}

type Wish = { readonly name: string; readonly number: number; readonly known: readonly Call[] };

/** A start with a secret of the space, or anything that was ever offered in either space, or a search for either. */
function anyCall(chance: SeededRandom, { name, number, known }: Wish): Call {
  const offered = known[chance.below(Math.max(1, known.length))];
  switch (chance.below(5)) {
    case 0:
      return start(name, number);
    case 1:
      return { tool: 'resume_session', arguments: { query: chance.below(2) === 0 ? 'zebra' : 'quokka' } };
    case 2:
      return { tool: 'resume_session', arguments: { includeFinished: true } };
    default:
      return offered ?? start(name, number);
  }
}

function start(name: string, number: number): Call {
  const goal = `A ${name}: secret of ${name} ${number}`;
  return { tool: 'start_workflow', arguments: { workflowId: 'wr.first_steps', goal } };
}
