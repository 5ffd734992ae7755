import { ok } from 'neverthrow';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { masterKeySealer } from '../../src/adapters/identity/identity-provider.ts';
import { type Database, openDatabase, type StoreDatabase } from '../../src/adapters/postgres-store/database.ts';
import { migrate } from '../../src/adapters/postgres-store/migrations.ts';
import { databaseNotices } from '../../src/adapters/postgres-store/notices.ts';
import { postgresAccess } from '../../src/adapters/postgres-store/postgres-access.ts';
import { postgresFeed } from '../../src/adapters/postgres-store/postgres-index.ts';
import { postgresStore, teamDatabase } from '../../src/adapters/postgres-store/postgres-store.ts';
import type { WorkflowFile } from '../../src/app/ports/workflow-sources.ts';
import { spaceRules } from '../../src/app/team/space-rules.ts';
import { eventIndexSchema } from '../../src/core/log/ids.ts';
import { isFinished } from '../../src/core/resume/rank-runs.ts';
import { isSameKeyring, signingKey } from '../../src/core/token/keyring.ts';
import { filledCall } from '../examples/filled-call.ts';
import { sha256 } from '../examples/sha256.ts';
import { startPostgres } from '../postgres.ts';
import type { Call, Reply } from '../simulation/agent/reader/obedient-reader.ts';
import { memoryWorld } from '../simulation/agent/world/memory-world.ts';
import { workflowFile } from '../simulation/agent/world/workflow-files.ts';
import { witnessed } from './named-space.ts';

const postgres = await startPostgres();
const MADE = { by: 'operator', at: 1 };
const GATED = workflowFile(
  {
    name: 'acme.gated.json',
    text: JSON.stringify({
      ...{ id: 'acme.gated', name: 'Gated', description: 'Waits.', version: '1.0.0' },
      steps: [{ id: 'ship', title: 'Ship', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } }],
    }),
  },
  { kind: 'project' },
);
const PATIENT = { timeout: 20_000 };

describe.runIf(postgres)('a space of a PostgreSQL database', () => {
  let database: Database;
  let spaces = 0;
  beforeAll(async () => {
    database = openDatabase({ url: postgres?.url ?? '' });
    (await migrate(database, { isDryRun: false }))._unsafeUnwrap();
    await asked('insert into wr.space (name) select i::text from generate_series(1, 20) i');
  });
  afterAll(async () => {
    await database.close();
    await postgres?.stop();
  });

  const asked = async (text: string) => (await database.run({ name: '', text }, []))._unsafeUnwrap();

  const seen = { all: new Set<string>(), nameless: new Set<string>() };
  /** A space with an agent that meets its rules, and a clock that stands still. */
  const openSpace = async (files: readonly WorkflowFile[] = []) => {
    spaces += 1;
    const statements: string[] = [];
    const texts = new Map<string, string>();
    const counted: Database = {
      ...database,
      run: (statement, values) => {
        statements.push(statement.name);
        texts.set(statement.name, statement.text);
        return database.run(statement, values);
      },
    };
    const notices = databaseNotices(counted, postgres?.url ?? '');
    const parts = {
      database: witnessed(counted, spaces, seen),
      spaceId: spaces,
      sha256,
      masterKey: () => Buffer.alloc(32, 7),
      notices,
    };
    const access = postgresAccess(parts);
    const time = { now: 1_000_000 };
    const rules = spaceRules(async () => ok(access), { nowMs: () => time.now });
    const store = postgresStore(parts);
    (await store.keyring.open())._unsafeUnwrap();
    const world = memoryWorld(files, {
      seed: spaces,
      store: { ...store, sessions: rules.sessionsFor('me', store.sessions) },
    });
    const chat = await world.newChat();
    const start = () => chat.call({ tool: 'start_workflow', arguments: { workflowId: 'wr.first_steps', goal: 'Go.' } });
    const isNotifying = (name: string) => /notify/i.test(texts.get(name) ?? '');
    return { spaceId: parts.spaceId, access, store, statements, isNotifying, notices, time, chat, start };
  };

  it('takes no new session beyond its limit, and every run in progress can be finished', async () => {
    const { access, chat, start, store, time } = await openSpace();
    (await access.change({ openSessionsMax: 2 }, MADE))._unsafeUnwrap();
    const [first, second] = [await start(), await start()];
    expect([first, second].map(isRefused)).toEqual([false, false]);
    const refused = await start();
    expect(refused.structuredContent).toMatchObject({
      error: {
        code: 'STORE_IO',
        message: expect.stringContaining('already has 2 open sessions, its limit'),
        suggestion: expect.stringContaining('admin of the space'),
        details: { limit: 'openSessionsMax', max: 2 },
      },
    });
    expect((await store.sessions.list())._unsafeUnwrap()).toHaveLength(2);
    let reply: Reply = first;
    while (reply.structuredContent?.['isComplete'] !== true) reply = await chat.call(nextOf(reply));
    // A finished session makes room for another one, and so does a closed one.
    time.now += 5_000;
    expect(isRefused(await start())).toBe(false);
    expect(isRefused(await start())).toBe(true);
    const [open] = (await store.sessionIndex.summaries())._unsafeUnwrap().filter(({ runs }) => !runs.every(isFinished));
    const [run] = open?.runs ?? [];
    if (open === undefined || run === undefined) return expect.fail('an open run');
    (await store.marks.setClosed(open.sessionId, run.runId, eventIndexSchema.parse(5)))._unsafeUnwrap();
    time.now += 5_000;
    expect(isRefused(await start())).toBe(false);
  });

  it('takes no more at once than its limit has room for', async () => {
    const { access, start } = await openSpace();
    (await access.change({ openSessionsMax: 3 }, MADE))._unsafeUnwrap();
    const replies = await Promise.all(Array.from({ length: 8 }, start));
    expect(replies.filter((reply) => !isRefused(reply))).toHaveLength(3);
  });

  it('says that a call may be sent again if somebody else held the session for too long', async () => {
    const { chat, start, spaceId } = await openSpace();
    const next = nextOf(await start());
    const refused = await database.transaction<Reply, never>(async (held) => {
      await held.run({ name: '', text: `select 1 from wr.session where space_id = ${spaceId} for update` }, []);
      return ok(await chat.call(next));
    });
    expect(refused._unsafeUnwrap().structuredContent).toMatchObject({
      error: { code: 'STORE_IO', suggestion: expect.not.stringContaining('administrator'), retry: { afterMs: 2_000 } },
    });
    expect(isRefused(await chat.call(next))).toBe(false);
  });

  it('records nothing beyond its size limit, loses nothing, and goes on when the limit is raised', async () => {
    const { access, chat, start, time } = await openSpace();
    const first = await start();
    const next = await chat.call(nextOf(first));
    (await access.change({ bytesMax: 1_000 }, MADE))._unsafeUnwrap();
    time.now += 5_000;
    const refused = await chat.call(nextOf(next));
    expect(refused.structuredContent).toMatchObject({
      error: { code: 'STORE_IO', message: expect.stringContaining('1.0 kB'), details: { limit: 'bytesMax' } },
    });
    // What was recorded is still answered.
    expect(await chat.call(nextOf(first))).toEqual(next);
    (await access.change({ bytesMax: 1_000_000 }, MADE))._unsafeUnwrap();
    time.now += 5_000;
    expect(isRefused(await chat.call(nextOf(next)))).toBe(false);
  });

  it('knows its size from its sessions, also from those that were recorded before sizes were', async () => {
    const { access, chat, start, spaceId } = await openSpace();
    for (let i = 0; i < 3; i++) await chat.call(nextOf(await start()));
    const own = `where space_id = ${spaceId}`;
    const [{ bytes }] = (await asked(
      `select ((select sum(octet_length(events)) from wr.append ${own})
         + (select sum(octet_length(bytes)) from wr.content natural join wr.content_ref ${own} and kind <> 3)
         + (select sum(octet_length(bytes)) from wr.content ${own} and kind = 3))::float8 as bytes`,
    )) as [{ bytes: number }];
    expect((await access.use())._unsafeUnwrap()).toEqual({ openSessions: 3, bytes });
    await asked(`update wr.session set bytes = null ${own}`);
    expect((await access.use())._unsafeUnwrap()).toEqual({ openSessions: 3, bytes });
  });

  it('tells those who watch it on another server of a change, by one notice outside of the appends', async () => {
    const { start, statements, isNotifying, notices, spaceId, store } = await openSpace();
    const other = databaseNotices(database, postgres?.url ?? '');
    let heard = 0;
    // No look of its own may find the change, only a notice can.
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const feed = postgresFeed({ database, spaceId, sha256, masterKey: () => Buffer.alloc(32), notices: other });
    const stop = feed.watch(() => {
      heard += 1;
    });
    await expect.poll(() => other.isListening(), PATIENT).toBe(true);
    const before = heard;
    for (let changes = 0; changes < 100; changes++) notices.changed(spaceId);
    await expect.poll(() => heard, PATIENT).toBeGreaterThan(before);
    expect(statements.filter(isNotifying)).toEqual(['wr_notify']);
    const started = heard;
    await start();
    await expect.poll(() => heard, PATIENT).toBeGreaterThan(started);
    expect(new Set(statements.filter(isNotifying))).toEqual(new Set(['wr_notify']));
    // A mark is a change too.
    const [open] = (await store.sessionIndex.summaries())._unsafeUnwrap();
    const seen = heard;
    if (open !== undefined) (await store.marks.setKept(open.sessionId, true))._unsafeUnwrap();
    await expect.poll(() => heard, PATIENT).toBeGreaterThan(seen);
    stop();
    await other.close();
  });

  it('tells those who watch it seldom, however much anybody with access to the database announces', async () => {
    const { spaceId } = await openSpace();
    const notices = databaseNotices(database, postgres?.url ?? '');
    let heard = 0;
    const stop = notices.watch(spaceId, () => {
      heard += 1;
    });
    await expect.poll(() => notices.isListening(), PATIENT).toBe(true);
    await expect.poll(() => heard, PATIENT).toBeGreaterThan(0);
    for (const text of [`repeat('${spaceId} ', 2000)`, "i || ' x'"]) {
      const before = heard;
      await asked(`select pg_notify('wr', ${text}) from generate_series(1, 500) i`);
      await asked(`select pg_notify('wr', '${spaceId}')`);
      await expect.poll(() => heard, PATIENT).toBeGreaterThan(before);
      expect(heard - before).toBeLessThan(20);
    }
    stop();
    await notices.close();
  });

  it.each(['cannot be made', 'is lost'])(
    'is looked at by those who watch it where the connection for notices %s',
    async (what) => {
      const { chat, start, spaceId } = await openSpace();
      const isLost = what === 'is lost';
      const url = postgres?.url ?? '';
      const notices = databaseNotices(database, isLost ? url : 'postgres://127.0.0.1:1/nothing');
      let heard = 0;
      const feed = postgresFeed({ database, spaceId, sha256, masterKey: () => Buffer.alloc(32), notices });
      const stop = feed.watch(() => {
        heard += 1;
      });
      if (isLost) {
        await expect.poll(() => notices.isListening(), PATIENT).toBe(true);
        await asked(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'workrail listen'",
        );
      }
      await expect.poll(() => notices.isListening(), PATIENT).toBe(false);
      const before = heard;
      await chat.call(nextOf(await start()));
      await expect.poll(() => heard, PATIENT).toBeGreaterThan(before);
      // It listens again as soon as it can.
      if (isLost) await expect.poll(() => notices.isListening(), PATIENT).toBe(true);
      stop();
      await notices.close();
    },
    60_000,
  );

  it('keeps its keys and the sign-ins of people when the master key is replaced, and the old one opens nothing', async () => {
    const { spaceId, store } = await openSpace();
    const [old, fresh] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    const keys = (await store.keyring.open())._unsafeUnwrap();
    const storeWith = (masterKey: Uint8Array, ...previousKeys: readonly Uint8Array[]) =>
      postgresStore({ database, spaceId, sha256, masterKey: () => masterKey, previousKeys });
    const [before, both, after] = [storeWith(old, fresh), storeWith(fresh, old), storeWith(fresh)];
    expect((await after.keyring.reseal())._unsafeUnwrapErr()).toEqual({ code: 'master_key_unfit' });
    expect((await before.keyring.find())._unsafeUnwrap()).toEqual(keys);
    // A rotation at the same time is not lost: each replaces only what it has read.
    const [resealed, rotated] = await Promise.all([both.keyring.reseal(), both.keyring.rotate()]);
    const now = (await both.keyring.find())._unsafeUnwrap();
    if (now === undefined) return expect.fail('a keyring');
    expect([resealed.isOk(), isSameKeyring(now, rotated._unsafeUnwrap())]).toEqual([true, true]);
    expect(now.previous).toEqual(keys.current);
    for (const one of [before, both, after]) expect((await one.keyring.find())._unsafeUnwrap()).toEqual(now);
    expect((await both.keyring.reseal())._unsafeUnwrap()).toBe(false);
    expect((await storeWith(old).keyring.find())._unsafeUnwrapErr()).toEqual({ code: 'master_key_unfit' });
    // The other spaces are sealed with the old one.
    expect((await before.keyring.reseal())._unsafeUnwrap()).toBe(true);

    const time = { now: Date.now(), endsAt: Date.now() + 60_000 };
    const sealed = await masterKeySealer(old).seal('browser session', { name: 'ann' }, time);
    const opened = [masterKeySealer(fresh, [old]), masterKeySealer(fresh), masterKeySealer(old, [fresh])].map((one) =>
      one.open('browser session', sealed, time.now),
    );
    expect(await Promise.all(opened)).toEqual([{ name: 'ann' }, undefined, { name: 'ann' }]);
  });

  it('gets no keys from a server whose master key does not open those of another space', async () => {
    await openSpace();
    spaces += 1;
    const [right, wrong] = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)];
    const ringWith = (masterKey: Uint8Array, on: StoreDatabase = database) =>
      postgresStore({ database: on, everySpace: database, spaceId: spaces, sha256, masterKey: () => masterKey })
        .keyring;
    const keys = { current: signingKey(Buffer.alloc(32, 1)) };
    for (const on of [database, database.confinedTo(spaces)]) {
      const made = [await ringWith(wrong, on).open(), await ringWith(wrong, on).rotate()];
      for (const refused of [...made, await ringWith(wrong, on).adopt(keys)]) {
        expect(refused._unsafeUnwrapErr()).toEqual({ code: 'master_key_unfit' });
      }
    }
    expect(await asked(`select 1 from wr.keyring where space_id = ${spaces}`)).toEqual([]);
    expect((await ringWith(right).adopt(keys))._unsafeUnwrap()).toBe(true);
  });

  it('notices entries that were cut off the end of its audit log, also when others follow', async () => {
    const { access, spaceId } = await openSpace();
    const brokenAt = async () => (await access.audit())._unsafeUnwrap().brokenAt;
    expect(await brokenAt()).toBeUndefined();
    for (const role of ['reader', 'agent', 'admin'] as const) {
      (await access.setMember({ principal: 'https://idp|1', role }, MADE))._unsafeUnwrap();
    }
    expect(await brokenAt()).toBeUndefined();
    await asked(`delete from wr.audit where space_id = ${spaceId} and seq > 1`);
    expect(await brokenAt()).toBe(2);
    (await access.removeMember('https://idp|1', MADE))._unsafeUnwrap();
    expect(await brokenAt()).toBe(2);
    await asked(`delete from wr.audit where space_id = ${spaceId}`);
    expect(await brokenAt()).toBe(1);
  });

  it('continues an audit log to which a server of an earlier release added an entry', async () => {
    const [one, other] = [await openSpace(), await openSpace()];
    for (const { access } of [one, other]) {
      (await access.setMember({ principal: 'https://idp|1', role: 'agent' }, MADE))._unsafeUnwrap();
    }
    (await other.access.removeMember('https://idp|1', MADE))._unsafeUnwrap();
    // That release knew no head.
    await asked(`insert into wr.audit select ${one.spaceId}, seq, entry, chain from wr.audit
      where space_id = ${other.spaceId} and seq = 2`);
    (await one.access.change({ isFourEyes: true }, MADE))._unsafeUnwrap();
    const { entries, brokenAt } = (await one.access.audit())._unsafeUnwrap();
    expect([entries.map(({ action }) => action), brokenAt]).toEqual([
      ['member_set', 'member_removed', 'four_eyes_set'],
      undefined,
    ]);
  });

  it('counts the runs of all spaces that wait for a person, and how long, and reads no other session for it', async () => {
    const team = teamDatabase(postgres?.url ?? '', sha256);
    const { runs: before } = (await team.waiting())._unsafeUnwrap();
    const { chat, spaceId, store } = await openSpace([GATED]);
    const advance = async (goal: string) =>
      chat.call(nextOf(await chat.call({ tool: 'start_workflow', arguments: { workflowId: 'acme.gated', goal } })));
    const counted = async () => (await team.waiting())._unsafeUnwrap().runs - before;
    const blocked = await advance('One');
    expect(blocked.structuredContent).toMatchObject({ kind: 'blocked' });
    await advance('Two');
    expect(await counted()).toBe(2);
    const own = `where space_id = ${spaceId}`;
    const [{ oldest }] = (await asked(`select min(last_at)::float8 as oldest from wr.session ${own}`)) as [
      { oldest: number },
    ];
    expect((await team.waiting())._unsafeUnwrap().since).toBeLessThanOrEqual(oldest);
    // What a server of the release before writes: another summary beside what this one knew.
    const [one, two] = (await store.sessionIndex.summaries())._unsafeUnwrap();
    const [run] = one?.runs ?? [];
    if (one === undefined || two === undefined || run === undefined) return expect.fail('two runs');
    await asked(`update wr.summary set manifest_index = manifest_index + 1 ${own} and session_id = '${two.sessionId}'`);
    expect(await counted()).toBe(1);
    await asked(`update wr.summary set manifest_index = manifest_index - 1 ${own} and session_id = '${two.sessionId}'`);
    (await store.marks.setClosed(one.sessionId, run.runId, eventIndexSchema.parse(5)))._unsafeUnwrap();
    expect(await counted()).toBe(1);
    (await store.bin.put(two.sessionId, 5))._unsafeUnwrap();
    expect(await counted()).toBe(0);
    // Those that were recorded before the migration are found by it.
    const recorded = await asked(`select session_id, waiting from wr.summary ${own} order by session_id`);
    await asked('drop index wr.summary_waiting; alter table wr.summary drop column waiting');
    await asked('delete from wr.schema_version where version = 11');
    expect((await migrate(database, { isDryRun: false }))._unsafeUnwrap()).toMatchObject([{ version: 11 }]);
    expect(await asked(`select session_id, waiting from wr.summary ${own} order by session_id`)).toEqual(recorded);
    await team.close();
  });

  it('works with tables of a newer release that says so, and with no others', async () => {
    const newest = (await asked('select max(version) as version, min(works_from) as from from wr.schema_version'))[0];
    const [version, worksFrom] = [Number(newest?.['version']), Number(newest?.['from'])];
    // A program of the release before can go on with these tables.
    expect(worksFrom).toBeLessThan(version);
    for (const [from, isFit] of [
      [version, true],
      [version - 1, true],
      [version + 1, false],
      ['null', false],
    ] as const) {
      await asked(
        `insert into wr.schema_version (version, checksum, works_from) values (${version + 1}, '\\x00', ${from})`,
      );
      const team = teamDatabase(postgres?.url ?? '', sha256);
      const ready = await team.ready();
      expect([from, ready.isOk() ? true : ready.error]).toEqual([
        from,
        isFit || { code: 'schema_newer', found: version + 1, known: version },
      ]);
      expect((await migrate(database, { isDryRun: false })).isOk()).toBe(isFit);
      await team.close();
      await asked(`delete from wr.schema_version where version = ${version + 1}`);
    }
  });

  it('needs three statements for a warm advance, whatever its limits are', async () => {
    const { chat, start, statements } = await openSpace();
    const next = await chat.call(nextOf(await start()));
    statements.length = 0;
    expect(isRefused(await chat.call(nextOf(next)))).toBe(false);
    expect(statements.filter((name) => name !== 'wr_notify')).toEqual([
      'wr_read_session',
      'wr_append',
      'wr_record_summary',
    ]);
  });

  it('every statement about access to a space names it first', () => {
    expect([...seen.nameless]).toEqual([]);
    expect(seen.all).toContain('wr_set_member');
  });
});

function nextOf(reply: Reply): Call {
  return filledCall((reply.structuredContent as { readonly nextCall: Call }).nextCall, undefined);
}

function isRefused({ structuredContent }: Reply): boolean {
  return 'error' in (structuredContent ?? {});
}
