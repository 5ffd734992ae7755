import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeHasher } from '../../src/adapters/system.ts';
import { EXIT } from '../../src/cli/problem.ts';
import { bareDigest, WORKFLOWS_META_KEY } from '../../src/mcp/described-workflows.ts';
import { filledCall } from '../examples/filled-call.ts';
import { startOpenId } from '../openid.ts';
import { startPostgres } from '../postgres.ts';
import { isLong } from '../volume.ts';
import { CLIENT_KINDS, type TestClient, type ToolResult } from './clients.ts';
import { runSmall } from './small-program.ts';
import { type Replica, startReplica } from './team-faults/replicas.ts';

const postgres = await startPostgres();
const openId = postgres === undefined ? undefined : await startOpenId(['alice', 'bob']);
const DATABASE = 'team_server';

describe.runIf(postgres)('a team server', () => {
  const admin = postgres?.url ?? '';
  const url = Object.assign(new URL(admin === '' ? 'postgres://x' : admin), {
    username: 'rail',
    password: 'rail',
    pathname: `/${DATABASE}`,
  }).href;
  /** The role of the servers owns nothing. Commands of the operator use the owner. */
  const serverUrl = Object.assign(new URL(url), { username: 'rail_server' }).href;
  let folder: string;
  let keyFile: string;
  let proxy: RoundRobin;
  const replicas: Replica[] = [];

  const run = async (...args: readonly string[]) => {
    const env = { WORKRAIL_DATA_DIR: join(folder, 'data'), PATH: process.env['PATH'] ?? '', HOME: folder };
    const ended = await runSmall([...args, '--json'], { cwd: folder, env });
    return { ...ended, ...(JSON.parse(ended.out) as { data: never; error: { message: string; suggestion: string } }) };
  };
  const inDatabase = (...args: readonly string[]) => run(...args, '--database-url', url);
  const tokenFor = async (name: string, ...more: readonly string[]) => {
    const { data } = await inDatabase('token', 'create', '--for', name, ...more);
    return data as { readonly token: string; readonly tokenId: string };
  };
  const place = (space: string, token: string) => ({ url: `${proxy.url}/s/${space}/mcp`, token });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workrail-team-server-'));
    keyFile = join(folder, 'master-key');
    writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
    const owner = new pg.Client({ connectionString: admin });
    await owner.connect();
    for (const role of ['rail', 'rail_server']) await owner.query(`create role ${role} login password 'rail'`);
    await owner.query(`create database ${DATABASE} owner rail`);
    await owner.end();
    proxy = await roundRobin(replicas);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await proxy.close();
    await openId?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const serving = (...more: readonly string[]) => [
    ...['serve', '--team', '--public-url', proxy.url, '--master-key-file', keyFile, '--no-drain'],
    ...['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', ...more],
  ];
  const issuer = openId === undefined ? [] : ['--issuer', openId.issuer];
  const post = (space: string, headers: Record<string, string>) =>
    fetch(`${proxy.url}/s/${space}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('does not start where work could be lost or nobody could call, and says what to do', async () => {
    const before = await run(...serving('--database-url', serverUrl));
    expect(before.error.suggestion).toContain('workrail migrate');
    const asked = ['migrate', '--server-role'];
    for (const [unfit, why] of [
      ['nobody', 'has no role "nobody"'],
      ['rail', 'could still change'],
      ['postgres', 'could still change'],
    ] as const) {
      const refused = await inDatabase(...asked, unfit);
      expect([refused.exitCode, refused.error.message]).toEqual([2, expect.stringContaining(why)]);
    }
    expect((await inDatabase(...asked, 'rail_server')).exitCode).toBe(0);
    for (const space of ['shop', 'other']) expect((await inDatabase('space', 'create', space)).exitCode).toBe(0);
    expect((await run(...serving('--database-url', serverUrl))).error.message).toContain('nobody could sign in');
    const open = await run(
      'serve',
      '--team',
      '--public-url',
      'http://rail.example',
      '--database-url',
      url,
      '--master-key-file',
      keyFile,
    );
    expect([open.exitCode, open.error.suggestion]).toEqual([2, 'Use an https address; http only on localhost.']);
    expect((await run('serve', '--team', '--database-url', url)).error.message).toContain('--public-url');
    const plain = await run(...serving('--database-url', serverUrl, '--issuer', 'http://idp.example'));
    expect([plain.exitCode, plain.error.message]).toEqual([2, '--issuer cannot be "http://idp.example".']);
    const below = await run(...serving('--database-url', serverUrl, '--public-url', 'https://rail.example/team'));
    expect([below.exitCode, below.error.message]).toEqual([2, '--public-url cannot be "https://rail.example/team".']);
    const nobody = await inDatabase('member', 'set', 'ann', 'agent', '--space', 'shop');
    expect([nobody.exitCode, nobody.error.message]).toEqual([2, '"ann" is not the name of a person.']);
    await run('migrate', '--database-url', admin);
    expect((await run(...serving('--database-url', admin))).error.message).toContain('superuser');
  });

  it('an agent of each client generation walks a run whose calls go to another replica each time', async () => {
    const { token } = await tokenFor('ci-bot', '--space', 'shop', '--days', '1');
    replicas.push(
      await startReplica(serving('--database-url', serverUrl, ...issuer)),
      await startReplica(serving('--database-url', serverUrl, '--rls', ...issuer)),
    );
    for (const [name, connectTo] of Object.entries(CLIENT_KINDS)) {
      const client = await connectTo(place('shop', token));
      const { tag, replies } = await walk(client);
      expect(replies.at(-1), name).toMatchObject({ kind: 'ok', isComplete: true });
      const found = await client.call('resume_session', { query: `Goal of ${tag}`, includeFinished: true });
      expect(found.isError, name).not.toBe(true);
      // Nothing that an agent writes may make the view of events fail for people who like SQL.
      await client.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'a\u0000b' });
      await client.close();
    }
    expect(proxy.used().every((times) => times > 3)).toBe(true);
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    const { rows } = await reader.query(
      "select distinct event->'by'->>'principal' as who, event->'by'->>'via' as via from wr.event",
    );
    await reader.end();
    expect(rows).toEqual([{ who: 'ci-bot', via: 'mcp' }]);
  });

  it('does not start with a master key that opens none of the stored keys, and names the file', async () => {
    const wrongFile = join(folder, 'wrong-key');
    writeFileSync(wrongFile, randomBytes(32).toString('hex'), { mode: 0o600 });
    const refused = await run(...serving('--database-url', serverUrl, '--master-key-file', wrongFile));
    expect([refused.exitCode, refused.error.message]).toEqual([
      EXIT.checkFailed,
      `The server does not start: no master key in ${wrongFile} opens the keys of these spaces: shop.`,
    ]);
    expect(refused.error.suggestion).toContain('--master-key-file');
    // The right key in a later line of the file still opens them.
    writeFileSync(wrongFile, `${randomBytes(32).toString('hex')}\n${readFileSync(keyFile, 'utf8')}`);
    await (await startReplica(serving('--database-url', serverUrl, '--master-key-file', wrongFile))).stop();
  });

  it('a replica that is killed loses nothing: the same call to another one gives the same reply', async () => {
    const { token } = await tokenFor('walker', '--space', 'shop');
    const client = await CLIENT_KINDS['client 2.x']?.(place('shop', token));
    if (client === undefined) expect.fail('a client');
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Survive.' });
    const next = filledCall(nextCallOf(started), undefined);
    const first = await client.call(next.tool, { ...next.arguments });
    await replicas[0]?.kill();
    const again = await client.call(next.tool, { ...next.arguments });
    expect(again).toEqual(first);
    replicas[0] = await startReplica(serving('--database-url', serverUrl, ...issuer));
    expect(await client.call(next.tool, { ...next.arguments })).toEqual(first);
    await client.close();
  });

  it('only a valid token of the space gets in, and a reader changes nothing', async () => {
    const valid = await tokenFor('one', '--space', 'shop');
    expect((await post('shop', bearer(valid.token))).status).toBe(200);
    const without = await post('shop', {});
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${proxy.url}/.well-known/oauth-protected-resource/s/shop/mcp", scope="workrail:read workrail:agent"`,
    ]);
    const metadata = await fetch(`${proxy.url}/.well-known/oauth-protected-resource/s/shop/mcp`);
    expect(await metadata.json()).toMatchObject({ resource: `${proxy.url}/s/shop/mcp` });
    const refused: [string, Record<string, string>][] = [
      ['other', bearer(valid.token)],
      ['nowhere', bearer(valid.token)],
      ['shop', bearer(`wrp_${'A'.repeat(43)}`)],
      ['shop', bearer(valid.token.slice(0, -1))],
      ['shop', bearer('eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.')],
      ['shop', { authorization: `Basic ${valid.token}` }],
    ];
    for (const [space, headers] of refused)
      expect((await post(space, headers)).status, JSON.stringify(headers)).toBe(401);
    for (const headers of [{ origin: 'https://evil.example' }, { origin: `${proxy.url}9` }]) {
      expect((await post('shop', { ...bearer(valid.token), ...headers })).status).toBe(403);
    }
    expect((await inDatabase('token', 'revoke', valid.tokenId, '--space', 'shop')).exitCode).toBe(0);
    expect((await post('shop', bearer(valid.token))).status).toBe(401);

    const reader = await tokenFor('watcher', '--space', 'shop', '--role', 'reader');
    const client = await CLIENT_KINDS['client 1.x']?.(place('shop', reader.token));
    if (client === undefined) expect.fail('a client');
    expect((await client.call('list_workflows', {})).isError).not.toBe(true);
    for (const [tool, args] of [
      ['start_workflow', { workflowId: 'wr.first_steps' }],
      ['checkpoint_workflow', { checkpointToken: 'chk_x', output: { notesMarkdown: 'x' } }],
      ['continue_workflow', { ackToken: 'ack_x' }],
    ] as const) {
      expect(await client.call(tool, args)).toMatchObject({ structuredContent: { error: { code: 'FORBIDDEN' } } });
    }
    await client.close();
  });

  it.runIf(openId)(
    'people sign in at their own provider, and a token only narrows the role that they have',
    async () => {
      if (openId === undefined) expect.fail('a provider');
      const resource = `${proxy.url}/s/shop/mcp`;
      const alice = `${openId.issuer}|alice`;
      await inDatabase('member', 'set', alice, 'agent', '--space', 'shop');
      const good = await openId.accessToken('alice', { resource, scope: 'workrail:agent' });
      for (const [name, connectTo] of Object.entries(CLIENT_KINDS)) {
        const client = await connectTo(place('shop', good));
        const { replies } = await walk(client);
        expect(replies.at(-1), name).toMatchObject({ isComplete: true });
        await client.close();
      }
      const narrow = await openId.accessToken('alice', { resource, scope: 'workrail:read' });
      const reading = await CLIENT_KINDS['client 2.x on protocol 2026-07-28']?.(place('shop', narrow));
      const refused = await reading?.call('start_workflow', { workflowId: 'wr.first_steps' });
      expect(refused).toMatchObject({ structuredContent: { error: { code: 'FORBIDDEN' } } });
      await reading?.close();

      const now = Math.floor(Date.now() / 1_000);
      const claims = { iss: openId.issuer, sub: 'alice', aud: resource, scope: 'workrail:agent', exp: now + 60 };
      expect((await post('shop', bearer(await openId.signed(claims)))).status).toBe(200);
      const { exp: _, ...endless } = claims;
      const forged: readonly (readonly [number, string, string])[] = [
        [403, 'somebody without a role', await openId.accessToken('bob', { resource, scope: 'workrail:agent' })],
        [403, 'no scope of ours', await openId.signed({ ...claims, scope: 'openid' })],
        [401, 'for another server', await openId.signed({ ...claims, aud: 'https://other.example' })],
        [401, 'for another space', await openId.signed({ ...claims, aud: `${proxy.url}/s/other/mcp` })],
        [401, 'of another issuer', await openId.signed({ ...claims, iss: 'https://other.example' })],
        [401, 'expired', await openId.signed({ ...claims, exp: now - 60 })],
        [401, 'without an end', await openId.signed(endless)],
        [401, 'changed', `${good.slice(0, -4)}AAAA`],
        [401, 'signed by nobody', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`],
      ];
      for (const [status, what, token] of forged) expect((await post('shop', bearer(token))).status, what).toBe(status);
      expect((await post('other', bearer(good))).status).toBe(401);
      await inDatabase('member', 'remove', alice, '--space', 'shop');
      expect((await post('shop', bearer(good))).status).toBe(403);
      const events = new pg.Client({ connectionString: url });
      await events.connect();
      const { rows } = await events.query(
        "select count(*)::int as n from wr.event where event->'by'->>'principal' = $1",
        [alice],
      );
      await events.end();
      expect(rows[0].n).toBeGreaterThan(10);

      const lonely = await startReplica(serving('--database-url', serverUrl, '--issuer', 'http://127.0.0.1:1'));
      const others = replicas.splice(0, replicas.length, lonely);
      const away = await post('shop', bearer(good));
      replicas.splice(0, 1, ...others);
      await lonely.stop();
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '2']);
    },
  );

  it.runIf(openId)('a group of the provider gives its people a role until the group loses it', async () => {
    if (openId === undefined) expect.fail('a provider');
    const { issuer, groups } = openId;
    const [readers, agents] = [`group:${issuer}|Platform readers`, `group:${issuer}|platform`];
    const resource = `${proxy.url}/s/shop/mcp`;
    const tokenOf = (scope = 'workrail:agent') => openId.accessToken('bob', { resource, scope });
    const statusOf = async (token: string) => (await post('shop', bearer(token))).status;
    const mayStart = async (token: string) => {
      const client = await CLIENT_KINDS['client 2.x']?.(place('shop', token));
      const reply = await client?.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Bob.' });
      await client?.close();
      return reply?.isError !== true;
    };
    const set = async (who: string, role: string) =>
      expect((await inDatabase('member', 'set', who, role, '--space', 'shop')).exitCode).toBe(0);
    const remove = (who: string) => inDatabase('member', 'remove', who, '--space', 'shop');
    groups.set('bob', ['everyone', 'Platform readers', 'platform']);
    const token = await tokenOf();
    expect(await statusOf(token)).toBe(403);
    await set(readers, 'reader');
    expect([await statusOf(token), await mayStart(token)]).toEqual([200, false]);
    await set(agents, 'agent');
    const members = (await inDatabase('member', 'list', '--space', 'shop')).data as { readonly members: object[] };
    expect(members.members).toEqual(expect.arrayContaining([{ principal: agents, role: 'agent' }]));
    // The higher of the roles counts, a token only narrows it, and a token without groups has none of them.
    expect([await mayStart(token), await mayStart(await tokenOf('workrail:read'))]).toEqual([true, false]);
    await set(`${issuer}|bob`, 'reader');
    expect(await mayStart(token)).toBe(true);
    groups.delete('bob');
    expect(await mayStart(await tokenOf())).toBe(false);
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, sub: 'eve', aud: resource, scope: 'workrail:agent', exp: now + 60 };
    for (const [status, given] of [
      [200, 'platform'],
      [403, `${issuer}|platform`],
      [403, { platform: true }],
      [403, ['Platform']],
      [403, ['plat\u200bform']],
    ] as const) {
      expect([given, await statusOf(await openId.signed({ ...claims, groups: given }))]).toEqual([given, status]);
    }
    expect(await statusOf(await openId.signed({ ...claims, sub: 'group:platform' }))).toBe(403);
    // The operator may name another claim; then the usual one says nothing.
    const named = await startReplica(
      serving('--database-url', serverUrl, '--issuer', issuer, '--groups-claim', 'https://acme/roles'),
    );
    const others = replicas.splice(0, replicas.length, named);
    const byClaim = { ...claims, groups: ['platform'] };
    expect(await statusOf(await openId.signed(byClaim))).toBe(403);
    expect(await statusOf(await openId.signed({ ...byClaim, 'https://acme/roles': ['platform'] }))).toBe(200);
    replicas.splice(0, 1, ...others);
    await named.stop();
    const alone = await run(...serving('--database-url', serverUrl, '--groups-claim', 'roles'));
    expect([alone.exitCode, alone.error.message]).toEqual([2, '--groups-claim needs --issuer.']);
    await remove(agents);
    expect([await statusOf(token), await mayStart(token)]).toEqual([200, false]);
    await remove(readers);
    await remove(`${issuer}|bob`);
    expect(await statusOf(token)).toBe(403);
    const { entries } = (await inDatabase('audit', 'verify', '--space', 'shop')).data as AuditData;
    const bob = `${issuer}|bob`;
    const through = entries.filter((entry) => 'subject' in entry && String(entry.subject).startsWith(`${bob} as`));
    // Each server says it once.
    const [read, work] = [`${bob} as reader through ${readers}`, `${bob} as agent through ${agents}`];
    expect(new Set(through.map((entry) => 'subject' in entry && entry.subject))).toEqual(new Set([read, work]));
    expect(through.length).toBeLessThanOrEqual(4);
    expect(through[0]).toMatchObject({ action: 'signed_in', by: bob });
    for (const wrong of ['group:platform', 'group:https://idp|a\u200bb']) {
      expect((await inDatabase('member', 'set', wrong, 'agent', '--space', 'shop')).exitCode).toBe(2);
    }
  });

  it('a bridge adds what only its machine knows, and another machine finds the run by its repository', async () => {
    const [ann, ben] = [await tokenFor('ann', '--space', 'shop'), await tokenFor('ben', '--space', 'shop')];
    const cloned = (name: string, remote: string) => {
      const path = mkdtempSync(join(folder, `${name}-`));
      gitIn(path, 'init', '-q', '-b', `work-of-${name}`, path);
      gitIn(path, 'remote', 'add', 'origin', remote);
      gitIn(path, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '--allow-empty', '-m', name);
      return path;
    };
    const laptop = cloned('laptop', 'git@git.example:acme/shop.git');
    const desktop = cloned('desktop', 'https://ann:secret@Git.example/acme/shop.git');
    const elsewhere = cloned('elsewhere', 'https://git.example/acme/other');
    const kinds = Object.keys(CLIENT_KINDS).slice(0, isLong ? undefined : 2);
    const bridged = (kind: string, cwd: string, token: string) => {
      const env = { WORKRAIL_TOKEN: token, HOME: folder, PATH: process.env['PATH'] ?? '' };
      const place = { env, cwd, command: ['connect', `${proxy.url}/s/shop`] };
      return CLIENT_KINDS[kind]?.(place) ?? expect.fail('a client');
    };
    for (const kind of kinds) {
      const first = await bridged(kind, laptop, ann.token);
      const started = await first.call('start_workflow', { workflowId: 'wr.first_steps', goal: `Move with ${kind}.` });
      const next = filledCall(nextCallOf(started), undefined);
      await first.call(next.tool, { ...next.arguments });
      await first.close();

      const other = await bridged(kind, elsewhere, ann.token);
      expect((await other.call('resume_session', {})).structuredContent, kind).toHaveProperty('candidates');
      await other.close();
      const foreign = await bridged(kind, desktop, ben.token);
      const offered = await foreign.call('resume_session', {});
      const { candidates } = offered.structuredContent as { readonly candidates: readonly object[] };
      expect(candidates[0], kind).toMatchObject({ owner: 'ann', goal: `Move with ${kind}.` });
      await foreign.close();
      const second = await bridged(kind, desktop, ann.token);
      const resumed = await second.call('resume_session', {});
      expect(resumed.content[0]?.text, kind).toContain(`Move with ${kind}.`);
      let reply = resumed;
      for (let calls = 0; reply.structuredContent?.['isComplete'] !== true && calls < 30; calls++) {
        const { tool, arguments: args } = filledCall(nextCallOf(reply), undefined);
        reply = await second.call(tool, { ...args });
      }
      expect(reply.structuredContent, kind).toMatchObject({ isComplete: true });
      await second.close();
    }
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    const { rows } = await database.query(
      "select distinct event->'data'->>'key' as key, event->'data'->'value'->>'value' as value from wr.event where event->>'kind' = 'observation_recorded' order by 1, 2",
    );
    const { rows: secrets } = await database.query(
      "select 1 from wr.event where event::text like '%secret%' or event::text like $1",
      [`%${folder}%`],
    );
    await database.end();
    const byKey = rows as { key: string; value: string }[];
    expect(byKey.filter(({ key }) => key === 'repo_remote')).toEqual([
      { key: 'repo_remote', value: 'git.example/acme/shop' },
    ]);
    expect(byKey.filter(({ key }) => key === 'git_branch')).toEqual([{ key: 'git_branch', value: 'work-of-laptop' }]);
    expect(secrets).toEqual([]);
  });

  it('a bridge brings the workflows of its project along, and they are seen by nobody else', async () => {
    const { token } = await tokenFor('flo', '--space', 'shop');
    const project = mkdtempSync(join(folder, 'flows-'));
    const text = JSON.stringify({
      id: 'acme.greet',
      name: 'Greet',
      description: 'Greets somebody.',
      version: '1.0.0',
      steps: [{ id: 'greet', title: 'Greet', prompt: 'Say hello. Write the greeting in your notes.' }],
    });
    const file = '.workrail/workflows/acme.greet.json';
    mkdirSync(join(project, '.workrail/workflows'), { recursive: true });
    writeFileSync(join(project, file), text);
    for (const kind of Object.keys(CLIENT_KINDS)) {
      const env = { WORKRAIL_TOKEN: token, HOME: folder, PATH: process.env['PATH'] ?? '' };
      const command = ['connect', `${proxy.url}/s/shop`];
      const client = (await CLIENT_KINDS[kind]?.({ env, cwd: project, command })) ?? expect.fail('a client');
      // Each replica asks once for the text, so each call goes to both.
      for (let times = 0; times < 2; times++) {
        const listed = await client.call('list_workflows', { query: 'greet' });
        expect(listed.content[0]?.text, kind).toContain('acme.greet');
      }
      let reply = await client.call('start_workflow', { workflowId: 'acme.greet', goal: `Greet by ${kind}.` });
      for (let calls = 0; reply.structuredContent?.['isComplete'] !== true && calls < 5; calls++) {
        const { tool, arguments: args } = filledCall(nextCallOf(reply), undefined);
        reply = await client.call(tool, { ...args });
      }
      expect(reply.structuredContent, kind).toMatchObject({ isComplete: true });
      await client.close();
    }
    const direct = (await CLIENT_KINDS['client 2.x']?.(place('shop', token))) ?? expect.fail('a client');
    expect((await direct.call('list_workflows', { query: 'greet' })).content[0]?.text).not.toContain('acme.greet');
    await direct.close();
    // Who knows the digest of a file in another space does not get the file by it.
    const stranger = await tokenFor('eve', '--space', 'other');
    const digest = bareDigest(text, nodeHasher.sha256);
    const named = { [WORKFLOWS_META_KEY]: [{ ref: file, digest }] };
    const answer = await fetch(`${proxy.url}/s/other/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': '2025-06-18', ...bearer(stranger.token) },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'list_workflows', arguments: { query: 'greet' }, _meta: named },
      }),
    });
    expect(await answer.text()).toContain(`"missing":["${digest}"]`);
  });

  it(
    'an agent that changes its machine at every step finishes its runs',
    async () => {
      const { token } = await tokenFor('nomad', '--space', 'shop');
      const machines = ['here', 'there'].map((name) => {
        const path = mkdtempSync(join(folder, `${name}-`));
        gitIn(path, 'init', '-q', '-b', 'work', path);
        gitIn(path, 'remote', 'add', 'origin', 'https://git.example/acme/nomad');
        gitIn(path, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '--allow-empty', '-m', name);
        return path;
      });
      const kind = CLIENT_KINDS['client 2.x'] ?? expect.fail('a client');
      const runs = isLong ? 50 : 1;
      for (let run = 0; run < runs; run++) {
        const goal = `Travel, run ${run}.`;
        let isComplete = false;
        for (let step = 0; !isComplete && step < 30; step++) {
          const cwd = machines[step % machines.length] ?? folder;
          const env = { WORKRAIL_TOKEN: token, HOME: `${cwd}-home`, PATH: process.env['PATH'] ?? '' };
          const client = await kind({ env, cwd, command: ['connect', `${proxy.url}/s/shop`] });
          // On a new machine the agent knows nothing but what it was asked to do.
          const found = step === 0 ? undefined : await client.call('resume_session', { query: goal });
          const offered = found === undefined ? undefined : filledCall(nextCallOf(found), undefined);
          const done = await client.call(offered?.tool ?? 'start_workflow', {
            ...(offered?.arguments ?? { workflowId: 'wr.first_steps', goal }),
          });
          expect(done.isError, `run ${run}, step ${step}`).not.toBe(true);
          if (found !== undefined) expect(found.content[0]?.text).toContain(goal);
          isComplete = done.structuredContent?.['isComplete'] === true;
          await client.close();
        }
        expect(isComplete, `run ${run}`).toBe(true);
      }
    },
    isLong ? 1_800_000 : 120_000,
  );

  it('a bridge repeats what a killed replica did not answer, and a start that is repeated makes one run', async () => {
    const { token } = await tokenFor('cara', '--space', 'shop');
    const env = { WORKRAIL_TOKEN: token, HOME: folder, PATH: process.env['PATH'] ?? '' };
    const place = { env, command: ['connect', `${proxy.url}/s/shop`] };
    const client = (await CLIENT_KINDS['client 2.x']?.(place)) ?? expect.fail('a client');
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Be repeated.' });
    const next = filledCall(nextCallOf(started), undefined);
    proxy.cutNext(2);
    const moved = await client.call(next.tool, { ...next.arguments });
    expect(await client.call(next.tool, { ...next.arguments })).toEqual(moved);
    for (const cuts of [2, 4]) {
      const goal = `Be started once after ${cuts} cuts.`;
      proxy.cutNext(cuts);
      const reply = await client.call('start_workflow', { workflowId: 'wr.first_steps', goal });
      // Four tries without an answer are all that it makes.
      if (cuts === 4) expect(reply.content[0]?.text).toContain('resume_session');
      else expect(reply.isError).not.toBe(true);
      expect(await runsWithGoal(url, goal)).toBe(1);
    }
    await client.close();
    const stranger = { ...place, env: { ...env, WORKRAIL_TOKEN: `wrp_${'A'.repeat(43)}` } };
    await expect(CLIENT_KINDS['client 2.x']?.(stranger)).rejects.toThrow(/not valid for this space/);
    const without = await run('connect', `${proxy.url}/s/shop`);
    expect([without.exitCode, without.error.message]).toEqual([2, expect.stringContaining('WORKRAIL_TOKEN')]);
    expect((await run('connect', 'http://rail.example/s/shop')).exitCode).toBe(2);
  });

  it('a token of somebody else continues a run only where the space allows it, or after it was handed over', async () => {
    const [ann, ben] = [await tokenFor('ann', '--space', 'other'), await tokenFor('ben', '--space', 'other')];
    const connect = CLIENT_KINDS['client 2.x'] ?? expect.fail('a client');
    const [first, second] = [await connect(place('other', ann.token)), await connect(place('other', ben.token))];
    const start = { workflowId: 'wr.first_steps', goal: 'Be handed over.' };
    const started = await first.call('start_workflow', start);
    const shared = filledCall(nextCallOf(started), undefined);
    const moved = await second.call(shared.tool, { ...shared.arguments });
    expect(moved.isError).not.toBe(true);

    expect((await inDatabase('space', 'set', 'other', 'owner')).exitCode).toBe(0);
    for (const replica of replicas.splice(0)) await replica.stop();
    replicas.push(await startReplica(serving('--database-url', serverUrl, ...issuer)));
    const next = filledCall(nextCallOf(moved), undefined);
    const refused = await second.call(next.tool, { ...next.arguments });
    expect(refused.structuredContent).toMatchObject({
      error: { code: 'FORBIDDEN', message: expect.stringContaining('ann') },
    });
    const sessionId = await newestSession(url);
    const looked = await second.call('resume_session', { sessionId });
    expect(looked.isError).not.toBe(true);
    const given = await inDatabase('session', 'hand-over', sessionId, 'ben', '--space', 'other');
    expect(given.exitCode).toBe(0);
    const taken = await second.call(next.tool, { ...next.arguments });
    expect(taken.isError).not.toBe(true);
    expect(await first.call(next.tool, { ...next.arguments })).toEqual(taken);
    expect((await inDatabase('session', 'hand-over', sessionId, 'ben', '--space', 'shop')).exitCode).toBe(3);
    const { data } = await inDatabase('audit', 'verify', '--space', 'other');
    const actions = (data as AuditData).entries.map((entry) => (entry as { readonly action: string }).action);
    expect(actions).toEqual(expect.arrayContaining(['handover_set', 'session_handed_over']));
    await inDatabase('space', 'set', 'other', 'space');
    await Promise.all([first.close(), second.close()]);
    replicas.push(await startReplica(serving('--database-url', serverUrl, ...issuer)));
  });

  it('a space that is full starts nothing new until an admin raises its limit, and its runs go on', async () => {
    expect((await inDatabase('space', 'create', 'small')).exitCode).toBe(0);
    const set = await inDatabase('space', 'set', 'small', '--max-sessions', '1', '--max-size', '0.5');
    const limits = { openSessionsMax: 1, bytesMax: 500_000_000 };
    expect(set.data).toMatchObject({ handover: 'space', limits, use: { openSessions: 0, bytes: 0 } });
    for (const wrong of [['--max-sessions', '0'], ['--max-size', 'much'], ['everybody']]) {
      expect((await inDatabase('space', 'set', 'small', ...wrong)).exitCode, wrong.join(' ')).toBe(2);
    }
    const { token } = await tokenFor('filler', '--space', 'small');
    const client = (await CLIENT_KINDS['client 2.x']?.(place('small', token))) ?? expect.fail('a client');
    const start = () => client.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Fill it.' });
    const first = await start();
    expect(first.isError).not.toBe(true);
    const refused = await start();
    expect(refused.content[0]?.text).toContain('already has 1 open session, its limit');
    const next = filledCall(nextCallOf(first), undefined);
    expect((await client.call(next.tool, { ...next.arguments })).isError).not.toBe(true);
    await inDatabase('space', 'set', 'small', '--max-sessions', '2');
    await expect.poll(async () => (await start()).isError ?? false, { timeout: 30_000, interval: 1_000 }).toBe(false);
    expect((await inDatabase('space', 'set', 'small')).data).toMatchObject({ use: { openSessions: 2 } });
    await client.close();
  }, 60_000);

  it('agents of a space are offered workflows of a repository at the commit that an admin accepted, on every replica', async () => {
    const repository = join(folder, 'flows');
    const workflow = (title: string) =>
      JSON.stringify({
        ...{ id: 'acme.ship', name: 'Ship', description: 'Ships what was built.', version: '1.0.0' },
        steps: [{ id: 'ship', title, prompt: 'Ship it.', notesOptional: true }],
      });
    const commit = (title: string) => {
      mkdirSync(join(repository, 'workflows'), { recursive: true });
      writeFileSync(join(repository, 'workflows', 'acme.ship.json'), workflow(title));
      gitIn(repository, 'add', '-A');
      gitIn(repository, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '-m', title);
      return execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    };
    gitIn(repository, 'init', '-q', '-b', 'main', repository);
    const first = commit('Ship it first');
    const source = (...more: readonly string[]) => inDatabase('space', 'source', 'shop', ...more);
    const address = `file://${repository}`;
    const proposed = await source(address, '--ref', 'main');
    const waits = {
      source: { name: 'flows', url: address, commit: first },
      isAccepted: false,
      files: ['acme.ship.json'],
    };
    expect(proposed.data).toMatchObject({ sources: [waits] });
    for (const [wrong, exitCode] of [
      [[address, '--ref', 'main'], 2],
      [['./folder'], 2],
      [['--accept', 'flows@0000000'], 3],
      [['--accept', 'flows'], 2],
      [['--remove', 'nothing'], 3],
      [['--update', 'nothing'], 3],
    ] as const) {
      expect((await source(...wrong)).exitCode, wrong.join(' ')).toBe(exitCode);
    }
    const { token } = await tokenFor('shipper', '--space', 'shop');
    const client = (await CLIENT_KINDS['client 2.x']?.(place('shop', token))) ?? expect.fail('a client');
    const listed = async () => (await client.call('list_workflows', { query: 'ship' })).content[0]?.text ?? '';
    /** Each request goes to the next replica. */
    const everywhere = (read: () => Promise<string>, words: string) =>
      expect.poll(
        async () => {
          const seen: boolean[] = [];
          for (const _ of replicas) seen.push((await read()).includes(words));
          return seen;
        },
        { timeout: 30_000, interval: 500 },
      );
    const all = replicas.map(() => true);
    const none = replicas.map(() => false);
    await everywhere(listed, 'acme.ship').toEqual(none);
    expect((await source('--accept', `flows@${first.slice(0, 10)}`)).data).toMatchObject({
      sources: [{ ...waits, isAccepted: true }],
    });
    await everywhere(listed, 'acme.ship').toEqual(all);
    const start = async () => {
      const started = await client.call('start_workflow', { workflowId: 'acme.ship', goal: 'Ship.' });
      return started.content[0]?.text ?? '';
    };
    await everywhere(start, 'Ship it first').toEqual(all);
    await everywhere(start, `flows@${first.slice(0, 7)}`).toEqual(all);

    // A newer commit waits for an admin, and until then the old one is used.
    const second = commit('Ship it second');
    const dry = await source('--update', 'flows', '--dry-run');
    expect(dry.data).toMatchObject({ sources: [{ isAccepted: true, source: { commit: first } }] });
    expect((await source('--update', 'flows')).data).toMatchObject({
      sources: [{ isAccepted: true }, { isAccepted: false, source: { commit: second } }],
    });
    await everywhere(start, 'Ship it first').toEqual(all);
    expect((await source('--accept', `flows@${second}`)).exitCode).toBe(0);
    await everywhere(start, 'Ship it second').toEqual(all);
    expect((await source('--remove', 'flows')).data).toMatchObject({ sources: [] });
    await everywhere(listed, 'acme.ship').toEqual(none);
    const { entries } = (await inDatabase('audit', 'verify', '--space', 'shop')).data as AuditData;
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'source_proposed', subject: `flows@${first} ${address}` }),
        expect.objectContaining({ action: 'source_accepted', subject: `flows@${second}` }),
        expect.objectContaining({ action: 'source_removed', subject: 'flows' }),
      ]),
    );
    await client.close();
  }, 120_000);

  it('the master key is replaced while agents work, no call is refused, and the old one opens nothing any more', async () => {
    const { token } = await tokenFor('steady', '--space', 'shop');
    const [old, fresh] = [readFileSync(keyFile, 'utf8'), randomBytes(32).toString('hex')];
    const oldFile = join(folder, 'old-master-key');
    writeFileSync(oldFile, old, { mode: 0o600 });
    const kind = CLIENT_KINDS['client 2.x'] ?? expect.fail('a client');
    const early = await kind(place('shop', token));
    const begun = await early.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Begin before.' });
    let [isOn, runs] = [true, 0];
    const agents = ['one', 'two'].map(async (name) => {
      // One caller alone would send more calls than the server takes, on a fast machine.
      const client = await kind(place('shop', (await tokenFor(name, '--space', 'shop')).token));
      while (isOn) {
        const { replies } = await walk(client);
        expect(replies.at(-1)).toMatchObject({ kind: 'ok', isComplete: true });
        runs += 1;
        await pause(500);
      }
      await client.close();
    });
    const withKeys = async (...keys: readonly string[]) => {
      writeFileSync(keyFile, keys.join('\n'), { mode: 0o600 });
      for (const [at, replica] of replicas.entries()) {
        const next = await startReplica(serving('--database-url', serverUrl, ...issuer));
        replicas[at] = next;
        await replica.stop();
      }
    };
    await withKeys(old, fresh);
    await withKeys(fresh, old);
    const sealed = await inDatabase('space', 'reseal', '--master-key-file', keyFile);
    expect(sealed.data).toMatchObject({ spaces: expect.arrayContaining([{ name: 'shop', isResealed: true }]) });
    await withKeys(fresh);
    const after = runs;
    await expect.poll(() => runs, { timeout: 30_000 }).toBeGreaterThan(after);
    isOn = false;
    await Promise.all(agents);
    const next = filledCall(nextCallOf(begun), undefined);
    expect((await early.call(next.tool, { ...next.arguments })).isError).not.toBe(true);
    await early.close();
    const unsealed = await inDatabase('space', 'reseal', '--master-key-file', oldFile);
    expect([unsealed.exitCode, unsealed.error.message]).toEqual([
      1,
      expect.stringContaining('None of the master keys'),
    ]);
    expect((await inDatabase('space', 'rotate-keys', 'shop', '--master-key-file', oldFile)).exitCode).toBe(1);
    expect((await inDatabase('space', 'rotate-keys', 'shop', '--master-key-file', keyFile)).exitCode).toBe(0);
    const { entries } = (await inDatabase('audit', 'verify', '--space', 'shop')).data as AuditData;
    expect(entries).toEqual(
      expect.arrayContaining(['keys_resealed', 'keys_rotated'].map((action) => expect.objectContaining({ action }))),
    );
  }, 120_000);

  it('a caller that sends too much learns when to try again, and others are not held up', async () => {
    const [busy, other] = [await tokenFor('busy', '--space', 'shop'), await tokenFor('other', '--space', 'shop')];
    const answers = await Promise.all(Array.from({ length: 120 }, () => post('shop', bearer(busy.token))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect((await post('shop', bearer(other.token))).status).toBe(200);
  });

  it('who was given access is in a chained log, and a changed entry is found', async () => {
    await inDatabase('member', 'set', 'https://idp.example|1', 'admin', '--space', 'other');
    await inDatabase('member', 'remove', 'https://idp.example|1', '--space', 'other');
    expect((await inDatabase('member', 'remove', 'nobody', '--space', 'other')).exitCode).toBe(3);
    expect((await inDatabase('member', 'set', 'x', 'owner', '--space', 'other')).exitCode).toBe(2);
    const audit = async () => (await inDatabase('audit', 'verify', '--space', 'other')).data as AuditData;
    const { entries, brokenAt } = await audit();
    expect(brokenAt).toBeNull();
    expect(entries.slice(-2)).toMatchObject([{ action: 'member_set', role: 'admin' }, { action: 'member_removed' }]);
    const file = join(folder, 'audit.jsonl');
    const exporting = ['audit', 'export', '--space', 'other'];
    const exported = await inDatabase(...exporting, '-o', file);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect([exported.exitCode, lines.length]).toEqual([0, entries.length]);
    expect(exported.data).toMatchObject({ entries: entries.length, head: chainFrom(lines), brokenAt: null });
    expect((await inDatabase(...exporting)).exitCode).toBe(2);
    expect((await inDatabase(...exporting, '-o', file)).exitCode).not.toBe(0);
    const env = { WORKRAIL_DATA_DIR: join(folder, 'data'), PATH: process.env['PATH'] ?? '', HOME: folder };
    const printed = await runSmall([...exporting, '--database-url', url], { cwd: folder, env });
    expect(printed.out).toBe(readFileSync(file, 'utf8'));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("update wr.audit set entry = replace(entry, 'admin', 'agent') where entry like '%member_set%'");
    await client.end();
    expect(await audit()).toMatchObject({ brokenAt: entries.length - 1 });
    const changed = await inDatabase(...exporting, '-o', file, '--force');
    expect([changed.exitCode, changed.data]).toEqual([4, expect.objectContaining({ brokenAt: entries.length - 1 })]);
    const kept = lines.slice(0, -2).map((line) => `${line}\n`);
    expect(readFileSync(file, 'utf8')).toBe(kept.join(''));
  });

  it('the role of the servers can neither change nor delete what was recorded, also after a further migration', async () => {
    const asServer = new pg.Client({ connectionString: serverUrl });
    const asOwner = new pg.Client({ connectionString: url });
    for (const client of [asServer, asOwner]) await client.connect();
    const codeOf = (text: string) =>
      asServer.query(text).then(
        () => 'done',
        ({ code }: { readonly code: string }) => code,
      );
    const NOT_ALLOWED = '42501';
    const refused = [
      ...['append', 'audit', 'content', 'content_ref', 'session', 'space', 'schema_version'].map(
        (at) => `delete from wr.${at}`,
      ),
      ...['append', 'audit', 'content', 'session'].map((at) => `truncate wr.${at} cascade`),
      "update wr.append set events = ''",
      'update wr.append set session_id = session_id',
      "update wr.audit set entry = '{}'",
      'update wr.audit set seq = seq',
      "update wr.content set bytes = ''",
      'update wr.session set space_id = space_id',
      'insert into wr.schema_version (version, checksum) values (99, $$x$$)',
      'insert into wr.audit select * from wr.audit on conflict (space_id, seq) do update set entry = excluded.entry',
      'create trigger t before insert on wr.audit for each row execute function f()',
      'alter table wr.audit disable row level security',
      'drop table wr.audit',
      'create table wr.more ()',
      'set role rail',
    ];
    for (const again of [[], [], ['--server-role', 'rail_server']]) {
      // It gives nothing: PostgreSQL only warns.
      await codeOf('grant update on wr.audit to rail_server');
      for (const text of refused) expect([text, await codeOf(text)]).toEqual([text, NOT_ALLOWED]);
      expect(await codeOf('select count(*) from wr.event')).toBe('done');
      // Whatever somebody gave to the role by hand is taken away.
      await asOwner.query('grant update, delete on wr.append to rail_server');
      expect((await inDatabase('migrate', ...again)).exitCode).toBe(0);
    }
    const { rows } = await asOwner.query(
      `select relname from pg_class where relnamespace = 'wr'::regnamespace and relkind in ('r', 'v')
         and not has_any_column_privilege('rail_server', oid, 'select')`,
    );
    expect(rows).toEqual([]);
    await asOwner.query(`update wr.session set last_at = 1, arrived_at = to_timestamp(1)
      where session_id = (select min(session_id) from wr.session s join wr.space p using (space_id)
        where p.name = 'shop' and s.next_event_index > 0)`);
    const gc = await run('space', 'gc', 'shop', '--database-url', serverUrl);
    expect([gc.exitCode, gc.error.message]).toEqual([1, expect.stringContaining('its role may not do that')]);
    const before = await asOwner.query('select count(*)::int as n from wr.append');
    const { data } = await inDatabase('space', 'gc', 'shop');
    expect((data as { removed: { sessions: string[] } }).removed.sessions.length).toBeGreaterThan(0);
    const after = await asOwner.query('select count(*)::int as n from wr.append');
    expect(after.rows[0].n).toBeLessThan(before.rows[0].n);
    for (const client of [asServer, asOwner]) await client.end();
  });

  it('tells load balancers when it is ready, and counts without naming anybody', async () => {
    const replica = replicas[0];
    const read = async (path: string) => {
      const answer = await fetch(`${replica?.adminUrl}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    expect((await read('livez')).status).toBe(200);
    expect((await read('readyz')).status).toBe(200);
    const { text } = await read('metrics');
    expect(text).toMatch(/workrail_call_seconds_count\{tool="continue_workflow",outcome="ok"\} \d+/);
    expect(text).toMatch(/workrail_store_seconds_count\{operation="append",outcome="ok"\} \d+/);
    expect(text).toMatch(/workrail_store_seconds_count\{operation="load",outcome="ok"\} \d+/);
    expect(text).toMatch(/workrail_statements_total [1-9]/);
    expect(text).toMatch(/workrail_database_connections\{state="waiting"\} \d+/);
    expect(text).toMatch(/^workrail_approvals_waiting 0$/m);
    expect(text).toMatch(/^workrail_approvals_waiting_oldest_seconds 0$/m);
    expect(text).not.toMatch(/ci-bot|walker|shop/);
  });
});

async function newestSession(url: string): Promise<string> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const { rows } = await database.query('select session_id from wr.session order by last_at desc limit 1');
  await database.end();
  return (rows[0] as { readonly session_id: string }).session_id;
}

async function runsWithGoal(url: string, goal: string): Promise<number> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const { rows } = await database.query(
    "select count(*)::int as n from wr.event where event->>'kind' = 'context_set' and event->'data'->'context'->>'goal' = $1",
    [goal],
  );
  await database.end();
  return (rows[0] as { readonly n: number }).n;
}

function gitIn(folder: string, ...args: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', args, { cwd: folder });
}

/** The chain of the last line, computed as the guide says, after each line was compared with its own. */
function chainFrom(lines: readonly string[]): string {
  const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  let chain = sha256('{"audit":1}');
  for (const line of lines) {
    chain = sha256(`${chain}\n${line.slice(line.indexOf('"entry":') + '"entry":'.length, -1)}`);
    expect((JSON.parse(line) as { readonly chain: string }).chain).toBe(chain);
  }
  return chain;
}

type AuditData = { readonly entries: readonly object[]; readonly brokenAt: number | null };

async function walk(client: TestClient): Promise<{ readonly tag: string; readonly replies: readonly object[] }> {
  let reply = await client.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Show a team server.' });
  const { run } = reply.structuredContent as { readonly run: { readonly tag: string } };
  const replies: object[] = [run];
  for (let calls = 0; reply.structuredContent?.['isComplete'] !== true && calls < 30; calls++) {
    const { tool, arguments: args } = filledCall(nextCallOf(reply), undefined);
    reply = await client.call(tool, { ...args });
    replies.push(reply.structuredContent ?? {});
  }
  return { tag: run.tag, replies };
}

function nextCallOf({ structuredContent }: ToolResult): { tool: string; arguments: Record<string, unknown> } {
  const { nextCall } = structuredContent as { nextCall: { tool: string; arguments: Record<string, unknown> } };
  return nextCall;
}

type RoundRobin = {
  readonly url: string;
  readonly used: () => readonly number[];
  /** Cuts the connections of the next answers. */
  readonly cutNext: (answers: number) => void;
  readonly close: () => Promise<void>;
};

/** Passes each request on to the next replica, or to another one if that does not answer. */
async function roundRobin(replicas: readonly Replica[]): Promise<RoundRobin> {
  const used: number[] = [];
  let next = 0;
  let cuts = 0;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const attempt = (left: number) => {
      const at = next++ % Math.max(1, replicas.length);
      const { method, url: path, headers } = request;
      const upstream = send({ host: '127.0.0.1', port: replicas[at]?.port, method, path, headers, agent: false });
      upstream.once('error', () => (left > 0 ? attempt(left - 1) : response.destroy()));
      upstream.once('response', (answer) => {
        used[at] = (used[at] ?? 0) + 1;
        // The replica has done the work, and nobody hears of it.
        if (cuts > 0) {
          cuts -= 1;
          response.destroy();
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      upstream.end(body);
    };
    attempt(replicas.length);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    used: () => used,
    cutNext: (answers) => {
      cuts = answers;
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}
