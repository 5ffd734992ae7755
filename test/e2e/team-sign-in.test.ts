import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenId, type TestOpenId } from '../openid.ts';
import { freePort, startPostgres } from '../postgres.ts';
import { CLIENT_KINDS, type TestClient } from './clients.ts';
import { NO_PROJECT, runSmall, SMALL_PROGRAM } from './small-program.ts';
import { type Replica, startReplica } from './team-faults/replicas.ts';

const postgres = await startPostgres();
const openId = postgres === undefined ? undefined : await startOpenId([]);
const registering = postgres === undefined ? undefined : await startOpenId([], [], true);
const DATABASE = 'team_sign_in';

/** What is kept of a sign-in. */
type Kept = { space: string; clientId: string; accessToken?: string; expiresAtMs?: number; refreshToken?: string };

describe.runIf(postgres && openId)('signing in to a team server from an agent machine', () => {
  const provider = openId as TestOpenId;
  const admin = postgres?.url ?? 'postgres://x';
  const url = Object.assign(new URL(admin), { username: 'rail', password: 'rail', pathname: `/${DATABASE}` }).href;
  let folder: string;
  let home: string;
  let server: Replica;
  const space = (name: string) => (name.includes(':') ? name : `http://127.0.0.1:${server.port}/s/${name}`);
  const env = () => ({ WORKRAIL_DATA_DIR: join(home, 'data'), PATH: process.env['PATH'] ?? '', HOME: home });
  const inDatabase = (...args: readonly string[]) =>
    runSmall([...args, '--database-url', url, '--json'], { cwd: folder, env: env() });

  const keyFile = () => join(folder, 'master-key');
  const serving = async (issuer: string) => {
    const port = await freePort();
    return startReplica([
      ...['serve', '--team', '--public-url', `http://127.0.0.1:${port}`, '--master-key-file', keyFile(), '--no-drain'],
      ...['--listen', `127.0.0.1:${port}`, '--admin-listen', '127.0.0.1:0'],
      ...['--database-url', url, '--issuer', issuer],
    ]);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workrail-sign-in-'));
    home = mkdtempSync(join(folder, 'home-'));
    writeFileSync(keyFile(), randomBytes(32).toString('hex'), { mode: 0o600 });
    const owner = new pg.Client({ connectionString: admin });
    await owner.connect();
    await owner.query("create role rail login password 'rail'");
    await owner.query(`create database ${DATABASE} owner rail`);
    await owner.end();
    await inDatabase('migrate');
    for (const name of ['shop', 'other']) {
      await inDatabase('space', 'create', name);
      await inDatabase('member', 'set', `${provider.issuer}|ann`, 'agent', '--space', name);
    }
    server = await serving(provider.issuer);
  });
  afterAll(async () => {
    await server?.stop();
    await openId?.stop();
    await registering?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  type Ended = { readonly exitCode: number | null; readonly said: string; readonly page: string };
  /** Runs the command, and does with its link what a person's browser does. */
  async function signIn(name: string, browse: (link: string) => Promise<string>, ...more: string[]): Promise<Ended> {
    const args = ['connect', space(name), '--sign-in', '--no-open', ...more];
    const child: ChildProcess = spawn(process.execPath, [SMALL_PROGRAM, ...args], { env: env(), cwd: NO_PROJECT });
    let said = '';
    let page: Promise<string> | undefined;
    for (const stream of [child.stderr, child.stdout]) {
      stream?.on('data', (part) => {
        said += part;
        const [link] = /http\S+\/auth\?\S+(?=\n)/.exec(said) ?? [];
        if (link !== undefined) page ??= browse(link);
      });
    }
    const [exitCode] = await once(child, 'close');
    return { exitCode, said, page: (await page) ?? '' };
  }
  const asAnn = async (link: string) => (await fetch(await provider.visit(link, 'ann'))).text();
  const withId = ['--client-id', provider?.nativeClient ?? ''];
  const files = () => {
    const keys = join(home, 'data', 'keys');
    return readdirSync(keys)
      .filter((name) => /^space-.*\.json$/.test(name))
      .map((name) => join(keys, name));
  };
  const fileOf = (name: string) =>
    files().find((file) => kept(file).space === `${space(name)}/mcp`) ?? expect.fail(`no sign-in to ${name}`);
  const kept = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Kept;
  const change = (name: string, changed: Partial<Kept>) =>
    writeFileSync(fileOf(name), JSON.stringify({ ...kept(fileOf(name)), ...changed }));
  const bridged = (name: string): Promise<TestClient> =>
    CLIENT_KINDS['client 2.x']?.({ env: env(), command: ['connect', space(name)] }) ?? expect.fail('a client');
  const textOf = async (client: TestClient) => {
    const { isError = false, content } = await client.call('list_workflows', {});
    return { isError, text: content[0]?.text ?? '' };
  };

  it('nobody is signed in before they signed in, and the bridge says how without opening a browser', async () => {
    const ended = await runSmall(['connect', space('shop'), '--json'], { cwd: folder, env: env() });
    const { error } = JSON.parse(ended.out) as { error: { message: string; suggestion: string } };
    expect([ended.exitCode, error.suggestion]).toEqual([2, expect.stringContaining(`${space('shop')} --sign-in`)]);
    const without = await signIn('shop', asAnn);
    expect([without.exitCode, without.said]).toEqual([2, expect.stringContaining('--client-id')]);
    const silent = await runSmall(['connect', space('shop'), '--sign-in', '--json'], { cwd: folder, env: env() });
    expect(silent.exitCode).toBe(2);
    const noServer = ['connect', 'http://127.0.0.1:1/s/shop', '--sign-in'];
    expect((await runSmall(noServer, { cwd: folder, env: env() })).exitCode).toBe(1);
  });

  it('a person signs in with a browser, and only the browser that was sent out is believed', async () => {
    const wrong: string[] = [];
    const { exitCode, said, page } = await signIn(
      'shop',
      async (link) => {
        const asked = new URL(link).searchParams;
        expect(asked.get('resource')).toBe(`${space('shop')}/mcp`);
        expect(asked.get('code_challenge_method')).toBe('S256');
        const back = await provider.visit(link, 'ann');
        expect(back.hostname).toBe('127.0.0.1');
        for (const [key, value] of [['state', 'wrong'] as const, ['state', ''] as const]) {
          const forged = new URL(back);
          forged.searchParams.set(key, value);
          wrong.push(`${(await fetch(forged)).status}`);
        }
        return (await fetch(back)).text();
      },
      ...withId,
    );
    expect([exitCode, wrong, page]).toEqual([0, ['400', '400'], expect.stringContaining('You are signed in')]);
    expect(said).toContain(`Ann (${provider.issuer}|ann)`);
    expect(said).toContain(`workrail member set '${provider.issuer}|ann' agent --space shop`);
    const signedIn = kept(fileOf('shop'));
    for (const secret of [signedIn.accessToken, signedIn.refreshToken]) expect(said).not.toContain(secret);
    expect(statSync(fileOf('shop')).mode & 0o777).toBe(0o600);
    const client = await bridged('shop');
    expect(await textOf(client)).toMatchObject({ isError: false });
    await client.close();
  });

  it('a person who says no, or a forged code, leaves nothing behind and keeps the earlier sign-in', async () => {
    const before = readFileSync(fileOf('shop'), 'utf8');
    for (const [name, value] of [['code', 'forged'] as const, ['error', 'access_denied'] as const]) {
      const ended = await signIn(
        'shop',
        async (link) => {
          const back = await provider.visit(link, 'ann');
          if (name === 'error') back.searchParams.delete('code');
          back.searchParams.set(name, value);
          return (await fetch(back)).text();
        },
        ...withId,
      );
      expect([ended.exitCode, ended.page]).toEqual([1, expect.stringContaining('not signed in')]);
      expect(ended.said).toContain('refused the sign-in');
    }
    expect(readFileSync(fileOf('shop'), 'utf8')).toBe(before);
  });

  it('a sign-in to one space is none to another, and both are kept', async () => {
    const ended = await runSmall(['connect', space('other'), '--json'], { cwd: folder, env: env() });
    expect(ended.exitCode).toBe(2);
    const { accessToken = '' } = kept(fileOf('shop'));
    const answer = await fetch(`${space('other')}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
      body: '{}',
    });
    expect(answer.status).toBe(401);
    expect((await signIn('other', asAnn, ...withId)).exitCode).toBe(0);
    expect(files()).toHaveLength(2);
    const clients = [await bridged('shop'), await bridged('other')];
    for (const client of clients) expect(await textOf(client)).toMatchObject({ isError: false });
    await Promise.all(clients.map((client) => client.close()));
  });

  it('bridges that renew at once send the refresh token once, and a token that the server refuses is renewed', async () => {
    const clients = await Promise.all([bridged('shop'), bridged('shop'), bridged('shop')]);
    const first = kept(fileOf('shop'));
    change('shop', { expiresAtMs: 0 });
    // The provider ends the sign-in if it sees a refresh token twice.
    const answers = await Promise.all([...clients, ...clients].map(textOf));
    for (const answer of answers) expect(answer).toMatchObject({ isError: false });
    const second = kept(fileOf('shop'));
    expect(second.accessToken).not.toBe(first.accessToken);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(statSync(fileOf('shop')).mode & 0o777).toBe(0o600);
    change('shop', { accessToken: 'no longer good' });
    expect(await textOf(clients[0] ?? expect.fail('a client'))).toMatchObject({ isError: false });
    await Promise.all(clients.map((client) => client.close()));
  });

  it('after a sign-in was revoked, each call says which command the user runs, and works again after it', async () => {
    const client = await bridged('shop');
    const { refreshToken = '', clientId } = kept(fileOf('shop'));
    await provider.revoke(refreshToken, clientId);
    change('shop', { expiresAtMs: 0 });
    for (let times = 0; times < 2; times++) {
      const { isError, text } = await textOf(client);
      expect(isError).toBe(true);
      expect(text).toContain(`connect ${space('shop')} --sign-in`);
    }
    expect(kept(fileOf('shop'))).not.toHaveProperty('accessToken');
    // A client that starts the bridge now reads the same words.
    await expect(bridged('shop')).rejects.toThrow(/--sign-in/);
    expect((await signIn('shop', asAnn, ...withId)).exitCode).toBe(0);
    expect(await textOf(client)).toMatchObject({ isError: false });
    await client.close();
  });

  it('signing out forgets the tokens of one space and revokes them at the provider', async () => {
    const { refreshToken = '', clientId } = kept(fileOf('other'));
    const out = () => runSmall(['connect', space('other'), '--sign-out'], { cwd: folder, env: env() });
    expect((await out()).out).toContain('Signed out');
    expect(files()).toHaveLength(1);
    const body = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
    const answer = await fetch(`${provider.issuer}/token`, { method: 'POST', body: new URLSearchParams(body) });
    expect(answer.status).toBe(400);
    expect((await out()).out).toContain('not signed in');
  });

  it.runIf(registering)('where the provider registers programs, a person needs no client id', async () => {
    const { issuer = '', visit } = registering ?? expect.fail('a provider');
    const other = await serving(issuer);
    await inDatabase('member', 'set', `${issuer}|ben`, 'reader', '--space', 'shop');
    const at = `http://127.0.0.1:${other.port}/s/shop`;
    const ended = await signIn(at, async (link) => (await fetch(await visit(link, 'ben'))).text());
    expect([ended.exitCode, ended.said]).toEqual([0, expect.stringContaining(`Ben (${issuer}|ben)`)]);
    const client = await bridged(at);
    expect(await textOf(client)).toMatchObject({ isError: false });
    await client.close();
    await other.stop();
  });
});
