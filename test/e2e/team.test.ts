import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { engine } from '../examples/engine.ts';
import { sharedSession } from '../examples/shared-session.ts';
import { startPostgres } from '../postgres.ts';
import { runSmall } from './small-program.ts';

const postgres = await startPostgres();

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
    expect((await run('here', 'migrate', '--database-url', url, '--dry-run')).data.steps).toHaveLength(4);
    expect((await run('here', 'migrate', '--database-url', url)).data.steps).toHaveLength(4);
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

  it('a database that does not answer is named as that', async () => {
    const away = 'postgres://127.0.0.1:1/nothing';
    const refused = await run('here', 'store', 'copy', '--to', away, '--space', 'shop');
    expect([refused.exitCode, refused.error.code]).toEqual([1, 'STORE_IO']);
    expect(refused.error.message).toContain('does not answer');
  });
});
