import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { engine } from '../examples/engine.ts';
import { sharedSession } from '../examples/shared-session.ts';
import { startPostgres } from '../postgres.ts';
import { isLong } from '../volume.ts';
import { runSmall } from './small-program.ts';
import { startReplica } from './team-faults/replicas.ts';

const postgres = await startPostgres();
const MANY = 1_000;

describe.runIf(postgres)('a team database', () => {
  const url = postgres?.url ?? '';
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'workrail-team-'));
  });
  afterAll(async () => {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (dataDir: string, ...args: readonly string[]) => {
    const env = { WORKRAIL_DATA_DIR: join(folder, dataDir), PATH: process.env['PATH'] ?? '', HOME: folder };
    const ended = await runSmall([...args, '--json'], { cwd: folder, env });
    return { ...ended, data: JSON.parse(ended.out).data, error: JSON.parse(ended.out).error };
  };
  const chainsIn = async (dataDir: string, sessionId: SessionId) => {
    const log = (await fileStore(join(folder, dataDir), nodeHasher.sha256).logs.open(sessionId))._unsafeUnwrap();
    return log.appends.map(({ segment }) => segment.chain);
  };

  it('a space is used only after the tables and the space were created, and each refusal says how', async () => {
    const before = await run('here', 'space', 'list', '--database-url', url);
    expect([before.exitCode, before.error.code]).toEqual([1, 'STORE_UNKNOWN_VERSION']);
    expect(before.error.suggestion).toContain('workrail migrate');
    const { steps } = (await run('here', 'migrate', '--database-url', url, '--dry-run')).data;
    expect(steps.length).toBeGreaterThan(0);
    expect((await run('here', 'migrate', '--database-url', url)).data.steps).toEqual(steps);
    expect((await run('here', 'migrate', '--database-url', url)).data.steps).toEqual([]);
    const unknown = await run('here', 'store', 'copy', '--to', url, '--space', 'shop');
    expect([unknown.exitCode, unknown.error.message]).toEqual([2, 'There is no space "shop" in this database.']);
    expect((await run('here', 'space', 'create', 'shop', '--database-url', url)).data).toEqual({
      name: 'shop',
      isNew: true,
    });
    expect((await run('here', 'space', 'create', 'shop', '--database-url', url)).data.isNew).toBe(false);
    expect((await run('here', 'space', 'create', 'No Way', '--database-url', url)).exitCode).toBe(2);
  });

  it('sessions go to the database and back with the same history, and only what is new is copied again', async () => {
    const agent = engine({ store: fileStore(join(folder, 'here'), nodeHasher.sha256) });
    const { sessionId } = await sharedSession(agent);
    const keyFile = join(folder, 'master-key');
    writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
    const keys = ['--keys', '--master-key-file', keyFile];
    const there = await run('here', 'store', 'copy', '--to', url, '--space', 'shop', ...keys);
    expect([there.exitCode, there.data.keys]).toEqual([0, 'copied']);
    expect(there.data.sessions).toMatchObject([{ sessionId, kind: 'copied' }]);
    const again = await run('here', 'store', 'copy', '--to', url, '--space', 'shop');
    expect(again.data.sessions).toEqual([{ sessionId, kind: 'unchanged', events: 0 }]);
    expect((await run('here', 'space', 'list', '--database-url', url)).data.spaces).toEqual([
      { name: 'shop', sessions: 1 },
    ]);

    const back = await run('back', 'store', 'copy', '--from', url, '--space', 'shop', ...keys);
    expect([back.exitCode, back.data.keys]).toEqual([0, 'copied']);
    expect(await chainsIn('back', sessionId)).toEqual(await chainsIn('here', sessionId));
    const shown = (await run('back', 'session', 'show', sessionId)).data;
    expect(shown).toEqual((await run('here', 'session', 'show', sessionId)).data);

    await sharedSession(agent);
    const more = await run('here', 'store', 'copy', '--to', url, '--space', 'shop');
    expect(more.data.sessions.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(['copied', 'unchanged']);
  });

  it.runIf(isLong)(
    'a thousand sessions go there and back with equal chains, views and tokens',
    async () => {
      const here = fileStore(join(folder, 'many'), nodeHasher.sha256);
      const agent = engine({ store: here });
      const started = [];
      for (let number = 0; number < MANY; number++) started.push(await sharedSession(agent));
      const keys = ['--space', 'many', '--keys', '--master-key-file', join(folder, 'master-key')];
      expect((await run('many', 'space', 'create', 'many', '--database-url', url)).exitCode).toBe(0);
      expect((await run('many', 'store', 'copy', '--to', url, ...keys)).data.sessions).toHaveLength(MANY);
      expect(
        (await run('many', 'store', 'copy', '--from', url, '--to', join(folder, 'many-back'), ...keys)).exitCode,
      ).toBe(0);
      const back = fileStore(join(folder, 'many-back'), nodeHasher.sha256);
      for (const { sessionId } of started) {
        expect(await chainsIn('many-back', sessionId)).toEqual(await chainsIn('many', sessionId));
        const views = await Promise.all(
          [here, back].map(async ({ sessions }) => (await sessions.load(sessionId))._unsafeUnwrap().view),
        );
        expect(views[1]).toEqual(views[0]);
      }
      const [one, other] = [await here.keyring.open(), await back.keyring.open()].map((keyring) =>
        keyring._unsafeUnwrap(),
      );
      expect(other).toEqual(one);
    },
    1_800_000,
  );

  it('an operator verifies and cleans up a space, and rotates its keys', async () => {
    const keyFile = join(folder, 'master-key');
    const inSpace = (...args: readonly string[]) => run('here', 'space', ...args, '--database-url', url);
    const verified = await inSpace('verify', 'shop');
    expect([verified.exitCode, verified.data.totals]).toMatchObject([0, { sessions: 2, damaged: 0 }]);
    const otherFile = join(folder, 'other-key');
    writeFileSync(otherFile, 'ab'.repeat(32));
    const unchecked = await inSpace('verify', 'shop', '--master-key-file', otherFile);
    expect([unchecked.exitCode, unchecked.error?.message]).toEqual([1, expect.stringContaining('master key')]);
    const signed = await inSpace('verify', 'shop', '--master-key-file', keyFile);
    expect(signed.data.sessions.map((one: { signature: { kind: string } }) => one.signature.kind)).toContain('signed');
    const foreseen = await inSpace('gc', 'shop', '--dry-run');
    expect(foreseen.data).toMatchObject({ isDryRun: true, removed: { sessions: [] }, stayed: { recent: 2 } });
    expect((await inSpace('gc', 'shop')).data.removed.files).toBe(0);
    expect((await inSpace('gc', 'shop', '--older-than', 'never')).exitCode).toBe(2);
    expect((await inSpace('rotate-keys', 'shop')).error.message).toContain('--master-key-file');
    const { data } = await inSpace('rotate-keys', 'shop', '--master-key-file', keyFile);
    expect(data.after.previous).toBe(data.before.current);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // In the space that is looked at: the long check has another one with a thousand sessions.
    const inShop = "space_id = (select space_id from wr.space where name = 'shop')";
    await client.query(
      `update wr.session set last_at = 1, arrived_at = to_timestamp(1) where ${inShop} and session_id = (select min(session_id) from wr.session where ${inShop})`,
    );
    const { removed } = (await inSpace('gc', 'shop')).data;
    expect(removed.sessions).toHaveLength(1);
    const log = await run('here', 'audit', 'verify', '--space', 'shop', '--database-url', url);
    const facts = log.data.entries.map(({ action, subject }: { action: string; subject: string }) => [action, subject]);
    const place = `the database ${new URL(url).host}${new URL(url).pathname}`;
    expect(facts).toEqual(
      expect.arrayContaining([
        ['copy_started', `all sessions from ${join(folder, 'here')} to ${place}`],
        ['copy_started', `all sessions from ${place} to ${join(folder, 'back')}`],
        ['sessions_collected', `1 session: ${removed.sessions[0]}`],
      ]),
    );
    await client.query(
      `update wr.append set events = overlay(events placing '\\x20' from 40) where first_event_index = 0 and ${inShop}`,
    );
    await client.end();
    const damaged = await inSpace('verify', 'shop');
    expect([damaged.exitCode, damaged.data.totals.damaged]).toEqual([4, 1]);
    expect((await inSpace('gc', 'shop')).error.message).toContain('cannot be read completely');
  });

  it('the commands of the compose file lead from an empty database to a server that is ready', async () => {
    const compose = readFileSync('deploy/compose.yaml', 'utf8');
    const commands = Array.from(compose.matchAll(/^ {4}command: (\[.*\])$/gm), ([, words = '']) => JSON.parse(words));
    expect(commands.map(([first]) => first)).toEqual(['migrate', 'space', 'token', 'serve']);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const [, line = ''] of compose.matchAll(/^ {6}(create .*);$/gm)) await client.query(line);
    await client.end();
    const own = (username: string) =>
      Object.assign(new URL(url), { username, password: 'rail', pathname: '/rail' }).href;
    const keyFile = join(folder, 'master-key');
    const here = (word: string) =>
      word
        .replace(/postgres:\/\/(\w+)@db\/rail/, (_, role: string) => own(role))
        .replace('/run/secrets/master-key', keyFile)
        .replace('0.0.0.0:8080', '127.0.0.1:0');
    for (const words of commands.slice(0, -1)) {
      expect((await run('compose', ...words.map(here))).exitCode, words.join(' ')).toBe(0);
    }
    const server = await startReplica([...commands.at(-1).map(here), '--admin-listen', '127.0.0.1:0', '--no-drain']);
    expect((await fetch(`${server.adminUrl}readyz`)).status).toBe(200);
    await server.stop();
  });

  it('a database that does not answer is named as that', async () => {
    const away = 'postgres://127.0.0.1:1/nothing';
    const refused = await run('here', 'store', 'copy', '--to', away, '--space', 'shop');
    expect([refused.exitCode, refused.error.code]).toEqual([1, 'STORE_IO']);
    expect(refused.error.message).toContain('does not answer');
  });
});
