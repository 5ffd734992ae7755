import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_KEY_HEADER } from '../../../src/core/wire/console-paths.ts';
import type { ConsoleReply, WaitingItem } from '../../../src/core/wire/console-shapes.ts';
import { startOpenId, type TestOpenId } from '../../openid.ts';
import { freePort, startPostgres } from '../../postgres.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../../volume.ts';
import { startBrowser } from '../browser.ts';
import { CLIENT_KINDS, type ToolResult } from '../clients.ts';
import { NO_PROJECT, runSmall } from '../small-program.ts';
import { type Replica, startReplica } from '../team-faults/replicas.ts';
import { expectAccessible } from './console-fixture.ts';
import { type Asked, ask, type Got } from './console-server.ts';

const postgres = await startPostgres();
const publicPort = await freePort();
const PUBLIC = `http://localhost:${publicPort}`;
const openId = postgres === undefined ? undefined : await startOpenId(['alice', 'bob'], [`${PUBLIC}/auth/callback`]);
const DATABASE = 'team_console';

const RELEASE = {
  id: 'wr.release',
  name: 'Release',
  description: 'Ships it.',
  version: '1.0.0',
  steps: [
    { id: 'ship', title: 'Ship to production', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } },
    { id: 'tell', title: 'Tell them', prompt: 'Tell everybody.' },
  ],
};
const CHECKED = {
  id: 'wr.checked',
  name: 'Checked',
  description: 'Runs a check.',
  version: '1.0.0',
  steps: [
    {
      id: 'test',
      title: 'Run the tests',
      prompt: 'Run them.',
      checks: [{ id: 'unit', run: 'echo tested && exit $UNIT_EXIT', minimum: 'verified' }],
    },
  ],
};

/** Somebody's browser, without a browser. */
type Person = {
  readonly cookie: string;
  readonly key: string;
  readonly get: (path: string) => Promise<Got>;
  readonly post: (path: string, body: object, headers?: Record<string, string>) => Promise<Got>;
};

describe.runIf(postgres && openId)('the console of a team', () => {
  const provider = openId as TestOpenId;
  const admin = postgres?.url ?? 'postgres://x';
  const url = Object.assign(new URL(admin), { username: 'rail', password: 'rail', pathname: `/${DATABASE}` }).href;
  const serverUrl = Object.assign(new URL(url), { username: 'rail_server' }).href;
  const replicas: Replica[] = [];
  let folder: string;
  let turn = 0;

  const run = async (...args: readonly string[]) => {
    const env = { WORKRAIL_DATA_DIR: join(folder, 'data'), PATH: process.env['PATH'] ?? '', HOME: folder };
    const ended = await runSmall([...args, '--database-url', url, '--json'], { cwd: folder, env });
    return JSON.parse(ended.out) as { readonly data: never };
  };
  const principal = (who: string) => `${provider.issuer}|${who}`;
  const member = (who: string, role: string, space = 'shop') =>
    run('member', 'set', principal(who), role, '--space', space);
  const tokenFor = async (name: string) =>
    ((await run('token', 'create', '--for', name, '--space', 'shop')).data as { readonly token: string }).token;

  /** Each request goes to another replica, as behind a load balancer. */
  const send = ({ headers, ...asked }: Asked) =>
    ask(replicas[turn++ % replicas.length]?.port ?? 0, {
      ...asked,
      headers: { host: `localhost:${publicPort}`, ...headers },
    });
  const json = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

  async function signedIn(who: string, { ago = 0, space = 'shop' } = {}): Promise<Person> {
    const begun = await send({ path: `/s/${space}/sign-in?to=/waiting` });
    const attempt = cookieIn(begun);
    const answer = await atProvider(String(begun.headers['location']), who, ago);
    const ended = await send({ path: answer, headers: { cookie: attempt } });
    expect([ended.status, ended.headers['location']]).toEqual([303, `${PUBLIC}/s/${space}/waiting`]);
    const cookie = cookieIn(ended, 'session');
    const asked = {
      method: 'POST',
      path: `/s/${space}/api/session`,
      headers: { ...json, cookie },
      body: '{"code":""}',
    };
    const { key = '' } = JSON.parse((await send(asked)).text) as { readonly key?: string };
    const own = { cookie, [PAGE_KEY_HEADER]: key };
    return {
      cookie,
      key,
      get: (path) => send({ path: `/s/${space}${path}`, headers: { ...own, 'sec-fetch-site': 'same-origin' } }),
      post: (path, body, headers = {}) =>
        send({
          method: 'POST',
          path: `/s/${space}${path}`,
          headers: { ...json, ...own, ...headers },
          body: JSON.stringify(body),
        }),
    };
  }

  const mcp = (credential: Record<string, string>, { headers, params }: Era = {}) =>
    send({
      method: 'POST',
      path: '/s/shop/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
        ...credential,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { ...params } }),
    });

  /** What waits, as a person sees it. */
  const waiting = async (person: Person) =>
    (JSON.parse((await person.get('/api/waiting')).text) as ConsoleReply<'waiting'>).waiting;
  const answerPath = ({ sessionId, nodeId }: WaitingItem) => `/api/sessions/${sessionId}/gates/${nodeId}/answer`;

  const connectTo = CLIENT_KINDS['client 2.x'] ?? expect.fail();
  /** An agent that works in a folder of its own machine. */
  const bridged = (token: string, cwd: string) =>
    connectTo({
      env: { WORKRAIL_TOKEN: token, HOME: folder, PATH: process.env['PATH'] ?? '' },
      cwd,
      command: ['connect', `${PUBLIC}/s/shop`],
    });
  /** A repository with one commit. */
  const cloned = (name: string) => {
    const path = join(folder, name);
    execFileSync('git', ['init', '-q', '-b', 'main', path]);
    execFileSync('git', ['-C', path, 'remote', 'add', 'origin', 'git@git.example:acme/shop.git']);
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
    execFileSync('git', ['-C', path, ...who, 'commit', '-q', '--allow-empty', '-m', 'first']);
    return { path, sha: execFileSync('git', ['-C', path, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim() };
  };

  /** An agent that comes to the gate. */
  async function blocked(token: string, goal: string, cwd?: string) {
    const client = await (cwd === undefined ? connectTo({ url: `${PUBLIC}/s/shop/mcp`, token }) : bridged(token, cwd));
    const begun = await client.call('start_workflow', { workflowId: 'wr.release', goal });
    expect(JSON.stringify(begun)).toContain(`until somebody who may approve answers at ${PUBLIC}/s/shop/waiting`);
    const started = dataOf(begun);
    const output = { notesMarkdown: `Would ship ${goal}.` };
    let last = dataOf(await client.call('continue_workflow', { ackToken: started.ackToken, output }));
    expect(last.kind).toBe('blocked');
    expect(JSON.stringify(last)).toContain(`open ${PUBLIC}/s/shop/waiting in a browser`);
    const again = async () => {
      last = dataOf(await client.call('continue_workflow', last.nextCall.arguments));
      return last.kind;
    };
    return { client, again };
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workrail-team-console-'));
    writeFileSync(join(folder, 'master-key'), randomBytes(32).toString('hex'));
    writeFileSync(join(folder, 'client-secret'), provider.browserClient.secret);
    cpSync(dirname(NO_PROJECT), join(folder, 'program'), { recursive: true });
    for (const one of [RELEASE, CHECKED]) {
      writeFileSync(join(folder, 'program', 'workflows', `${one.id}.json`), JSON.stringify(one));
    }
    const owner = new pg.Client({ connectionString: admin });
    await owner.connect();
    for (const role of ['rail', 'rail_server']) {
      await owner.query(
        `do $$ begin create role ${role} login password 'rail'; exception when duplicate_object then null; end $$`,
      );
    }
    await owner.query(`create database ${DATABASE} owner rail`);
    await owner.end();
    await run('migrate', '--server-role', 'rail_server');
    for (const space of ['shop', 'other']) await run('space', 'create', space);
    await Promise.all([
      ...(['reader', 'agent', 'approver', 'admin'] as const).map((role) => member(`${role}-person`, role)),
      member('alice', 'approver'),
      member('bob', 'approver'),
    ]);
    const serving = (port: number) => [
      ...['serve', '--team', '--public-url', PUBLIC, '--master-key-file', join(folder, 'master-key'), '--no-drain'],
      ...['--listen', `127.0.0.1:${port}`, '--admin-listen', '127.0.0.1:0', '--database-url', serverUrl],
      ...['--issuer', provider.issuer, '--client-id', provider.browserClient.id],
      ...['--client-secret-file', join(folder, 'client-secret')],
    ];
    const program = join(folder, 'program', 'dist', 'workrail.js');
    replicas.push(
      await startReplica(serving(publicPort), { program }),
      await startReplica([...serving(0), '--rls'], { program }),
    );
  }, 60_000);
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await provider.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a person approves what an agent cannot, and the log names the person', async () => {
    const token = await tokenFor('ci-bot');
    const { client, again } = await blocked(token, 'Release 1');
    expect(await again()).toBe('blocked');
    const metrics = async () => (await fetch(`${replicas[1]?.adminUrl}metrics`)).text();
    expect(await metrics()).toMatch(/^workrail_approvals_waiting 1$/m);
    const alice = await signedIn('alice');
    const [item] = await waiting(alice);
    expect(item).toMatchObject({ goal: 'Release 1', owner: 'ci-bot', isAccepted: true });
    if (item === undefined) expect.fail('nothing waits');
    const { digest, receipt } = item;
    const said = await alice.post(answerPath(item), { digest, receipt, decision: 'approved' });
    expect([said.status, said.text]).toEqual([200, expect.stringContaining(principal('alice'))]);
    expect(await metrics()).toMatch(/^workrail_approvals_waiting 0$/m);
    expect(await again()).toBe('ok');
    await client.close();
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    const { rows } = await database.query(
      "select event->'by' as by, event->'data'->'by' as said from wr.event where event->>'kind' = 'attestation_recorded'",
    );
    await database.end();
    expect(rows).toMatchObject([
      { by: { via: 'team', principal: principal('alice') }, said: { via: 'team', principal: principal('alice') } },
    ]);
  });

  it('nothing that an agent holds or forges decides anything', async () => {
    const token = await tokenFor('agent-bot');
    const own = await provider.accessToken('alice', { resource: `${PUBLIC}/s/shop/mcp`, scope: 'workrail:agent' });
    const { client, again } = await blocked(token, 'Release 2');
    const [alice, carl] = [await signedIn('alice'), await signedIn('reader-person')];
    const [item] = await waiting(alice);
    const [seen] = await waiting(carl);
    if (item === undefined || seen === undefined) expect.fail('nothing waits');
    const { digest, receipt } = item;
    const path = `/s/shop${answerPath(item)}`;
    const body = { digest, receipt, decision: 'approved' };
    const { chance, pick } = seededRandom(drawnSeed());
    const cookies = [
      '',
      alice.cookie,
      carl.cookie,
      `${alice.cookie.slice(0, -4)}AAAA`,
      alice.cookie.replace('session', 'attempt'),
      `workrail-session-${publicPort}=${receipt}`,
      `workrail-session-${publicPort}=${token}`,
      `__Host-workrail-session=${alice.cookie.split('=')[1]}`,
    ];
    const keys = ['', alice.key, carl.key, token, `${alice.key}A`, String(receipt)];
    const credentials = ['', `Bearer ${token}`, `Bearer ${own}`, `Bearer ${alice.key}`, 'Basic YWxpY2U6'];
    const sites = ['same-origin', 'same-site', 'cross-site', 'none'];
    const bodies = [
      body,
      { ...body, receipt: seen.receipt },
      { ...body, receipt: undefined },
      { ...body, digest: `sha256:${'0'.repeat(64)}` },
      { ...body, decision: 'answered', value: 'yes' },
    ];
    const statuses = new Map<number, number>();
    for (let tries = 0; tries < (isLong ? 1_000 : 120); tries++) {
      const [cookie, key, authorization] = [pick(cookies), pick(keys), pick(credentials)];
      const [site, sent] = [pick(sites), pick(bodies)];
      const origin = pick(['', PUBLIC, 'https://evil.example', `http://localhost:${publicPort + 1}`]);
      const type = pick(['application/json', 'text/plain', 'application/x-www-form-urlencoded']);
      const isRight = cookie === alice.cookie && key === alice.key && authorization === '' && sent === body;
      // Everything that only the real page of the real person sends.
      if (isRight && site === 'same-origin' && ['', PUBLIC].includes(origin) && type === 'application/json') continue;
      const headers = {
        'content-type': type,
        'sec-fetch-site': site,
        ...(cookie !== '' && { cookie }),
        ...(key !== '' && { [PAGE_KEY_HEADER]: key }),
        ...(authorization !== '' && { authorization }),
        ...(origin !== '' && { origin }),
        ...(chance(0.1) && { 'x-http-method-override': 'POST', 'x-forwarded-host': 'evil.example' }),
      };
      const got = await send({ method: 'POST', path, headers, body: JSON.stringify(sent) });
      statuses.set(got.status, (statuses.get(got.status) ?? 0) + 1);
      if (authorization !== '' && origin === '') expect([got.status, authorization]).toEqual([403, authorization]);
    }
    expect([...statuses.keys()].filter((status) => ![401, 403, 409, 415].includes(status))).toEqual([]);
    const tools = await client.listTools();
    expect(tools.filter(({ name }) => /answer|approv|attest/.test(name))).toEqual([]);
    expect(await again()).toBe('blocked');
    expect((await waiting(alice)).filter(({ answered }) => answered !== undefined)).toEqual([]);
    await client.close();
  });

  it('an approval counts for the files that the agent described, and no longer once they differ', async () => {
    const { path } = cloned('bound');
    writeFileSync(join(path, 'notes.txt'), 'first');
    const { client, again } = await blocked(await tokenFor('bound-bot'), 'Release with files', path);
    const alice = await signedIn('alice');
    const approve = async () => {
      const item = (await waiting(alice)).find(({ goal }) => goal === 'Release with files') ?? expect.fail('it waits');
      expect(item.files.join()).toMatch(/as the agent's machine described them.*notes\.txt/);
      const { digest, receipt } = item;
      return (await alice.post(answerPath(item), { digest, receipt, decision: 'approved' })).status;
    };
    expect(await approve()).toBe(200);
    writeFileSync(join(path, 'notes.txt'), 'second');
    expect(await again()).toBe('blocked');
    expect(await approve()).toBe(200);
    expect(await again()).toBe('ok');
    await client.close();
  });

  it('every credential is judged alike in both generations of the protocol', async () => {
    const resource = `${PUBLIC}/s/shop/mcp`;
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: provider.issuer, sub: 'alice', aud: resource, scope: 'workrail:agent', exp: now + 60 };
    const signed = (changes: object) => provider.signed({ ...claims, ...changes });
    const good = await provider.accessToken('alice', { resource, scope: 'workrail:agent' });
    const valid = await tokenFor('matrix-bot');
    const alice = await signedIn('alice');
    const table: readonly (readonly [status: number, what: string, headers: Record<string, string>])[] = [
      [200, 'an access token', bearer(good)],
      [200, 'one for the whole server', bearer(await signed({ aud: PUBLIC }))],
      [200, 'one that may only read', bearer(await signed({ scope: 'workrail:read' }))],
      [200, 'a token of a program', bearer(valid)],
      [401, 'nothing', {}],
      [401, 'another audience', bearer(await signed({ aud: 'https://other.example' }))],
      [401, 'another space', bearer(await signed({ aud: `${PUBLIC}/s/other/mcp` }))],
      [401, 'another issuer', bearer(await signed({ iss: 'https://other.example' }))],
      [401, 'expired', bearer(await signed({ exp: now - 60 }))],
      [401, 'without an end', bearer(await signed({ exp: undefined }))],
      [401, 'changed', bearer(`${good.slice(0, -4)}AAAA`)],
      [
        401,
        'signed by nobody',
        bearer(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`),
      ],
      [401, 'an unknown token', bearer(`wrp_${'A'.repeat(43)}`)],
      [401, 'half a token', bearer(valid.slice(0, -1))],
      [401, 'another scheme', { authorization: `Basic ${valid}` }],
      [401, 'the session of a browser', { cookie: alice.cookie, [PAGE_KEY_HEADER]: alice.key }],
      [401, 'the cookie as a token', bearer(alice.cookie.split('=')[1] ?? '')],
      [403, 'no scope of ours', bearer(await signed({ scope: 'openid' }))],
      [403, 'somebody without a role', bearer(await signed({ sub: 'nobody' }))],
      [403, 'a page of another site', { ...bearer(valid), origin: 'https://evil.example' }],
    ];
    for (const [status, what, headers] of table) {
      for (const era of [{}, NEW_ERA]) {
        const got = await mcp(headers, era);
        expect([what, got.status]).toEqual([what, status]);
        if (status !== 401) continue;
        expect(got.headers['www-authenticate']).toContain('/.well-known/oauth-protected-resource/s/shop/mcp"');
      }
    }
  });

  it('each role may do what it includes, and decides only shortly after proving who it is', async () => {
    const { client } = await blocked(await tokenFor('role-bot'), 'Release 3');
    const people = Object.fromEntries(
      await Promise.all(
        ['reader', 'agent', 'approver', 'admin'].map(async (role) => [role, await signedIn(`${role}-person`)] as const),
      ),
    );
    const stale = await signedIn('admin-person', { ago: 1_000 });
    const open = (await waiting(stale)).find(({ goal }) => goal === 'Release 3') ?? expect.fail('nothing waits');
    const asks: readonly (readonly [
      what: string,
      ask: (one: Person, item: WaitingItem) => Promise<Got>,
      statuses: string,
    ])[] = [
      ['look', (one) => one.get('/api/sessions'), '200 200 200 200 200'],
      ['close', (one) => one.post(`/api/sessions/${open.sessionId}/mark`, { mark: 'kept' }), '403 200 200 200 200'],
      ['delete', (one) => one.post(`/api/sessions/${open.sessionId}/mark`, { mark: 'deleted' }), '403 403 403 200 403'],
      [
        'restore',
        (one) => one.post(`/api/sessions/${open.sessionId}/mark`, { mark: 'restored' }),
        '403 403 403 200 403',
      ],
      [
        'loosen',
        (one) =>
          one.post(`/api/sessions/${open.sessionId}/runs/${open.runId}/preferences`, {
            mode: 'full_auto_never_stop',
            isLoosening: true,
          }),
        '403 403 200 200 403',
      ],
      [
        'tighten',
        (one) => one.post(`/api/sessions/${open.sessionId}/runs/${open.runId}/preferences`, { mode: 'guided' }),
        '403 403 200 200 403',
      ],
      [
        'reject',
        (one, { digest, receipt }) =>
          one.post(answerPath(open), { digest, receipt, decision: 'rejected', comment: 'No.' }),
        '403 403 200 200 403',
      ],
      ['spaces', (one) => one.get('/api/spaces'), '200 200 200 200 200'],
      ['members', (one) => one.get('/api/members'), '403 403 403 200 200'],
      ['audit', (one) => one.get('/api/audit'), '403 403 403 200 200'],
      ['add', (one) => one.post('/api/members', { principal: 'https://idp|9', role: 'reader' }), '403 403 403 200 403'],
      ['remove', (one) => one.post('/api/members/remove', { principal: 'https://idp|9' }), '403 403 403 200 403'],
      ['token', (one) => one.post('/api/tokens', { for: 'x', role: 'reader', days: 1 }), '403 403 403 200 403'],
      ['rules', (one) => one.post('/api/space', { handover: 'space' }), '403 403 403 200 403'],
      ['doctor', (one) => one.get('/api/doctor'), '404 404 404 404 404'],
      ['keys', (one) => one.post('/api/keys', {}), '404 404 404 404 404'],
      ['import', (one) => one.post('/api/import', {}), '404 404 404 404 404'],
      ['editor', (one) => one.post('/api/author/save', {}), '404 404 404 404 404'],
      ['settings', (one) => one.post('/api/settings', {}), '404 404 404 404 404'],
    ];
    for (const [what, asked, statuses] of asks) {
      const got: number[] = [];
      for (const one of [...Object.values(people), stale]) {
        const isAboutDraft = what === 'reject';
        const item = isAboutDraft ? (await waiting(one)).find(({ goal }) => goal === 'Release 3') : undefined;
        got.push((await asked(one, item ?? open)).status);
      }
      expect([what, got.join(' ')]).toEqual([what, statuses]);
    }
    const { admin: boss } = people;
    const old = await stale.post('/api/tokens', { for: 'x', role: 'reader', days: 1 });
    expect(old.text).toContain('Sign in again');
    expect((await boss?.get(`/api/sessions/${open.sessionId}/report?as=md`))?.status).toBe(200);
    const stranger = await signedIn('nobody');
    expect([(await stranger.get('/api/sessions')).status, stranger.key]).toEqual([403, '']);
    const elsewhere = await signedIn('admin-person', { space: 'other' });
    expect((await elsewhere.get('/api/sessions')).status).toBe(403);
    const demoted = await boss?.post('/api/members', { principal: principal('admin-person'), role: 'reader' });
    expect([demoted?.status, demoted?.text]).toEqual([409, expect.stringContaining('another admin')]);
    const { entries } = JSON.parse((await boss?.get('/api/audit'))?.text ?? '') as ConsoleReply<'audit'>;
    expect(entries.find(({ action }) => action === 'session_deleted')).toMatchObject({
      by: principal('admin-person'),
      subject: open.sessionId,
    });
    expect(new Set(entries.map(({ action }) => action))).toEqual(
      new Set([
        ...['member_set', 'member_removed', 'token_created', 'handover_set', 'signed_in', 'decision_refused'],
        ...['session_deleted', 'session_restored', 'session_exported'],
      ]),
    );
    await client.close();
  });

  it('where four eyes are set, neither the owner of a run nor the author of a draft approves it', async () => {
    const boss = await signedIn('admin-person');
    expect((await boss.post('/api/space', { isFourEyes: true })).status).toBe(200);
    await member('alice', 'approver');
    const token = await provider.accessToken('alice', { resource: `${PUBLIC}/s/shop/mcp`, scope: 'workrail:agent' });
    const { client, again } = await blocked(token, 'Release 4');
    const [alice, bob] = [await signedIn('alice'), await signedIn('bob')];
    const mine = async (one: Person) =>
      (await waiting(one)).find(({ goal }) => goal === 'Release 4') ?? expect.fail('nothing waits');
    const decide = async (one: Person, decision: string) => {
      const item = await mine(one);
      return one.post(answerPath(item), { digest: item.digest, receipt: item.receipt, decision });
    };
    await expect.poll(async () => (await decide(alice, 'approved')).status).toBe(409);
    expect((await decide(alice, 'approved')).text).toContain('somebody else must approve');
    expect(await again()).toBe('blocked');
    expect((await decide(bob, 'approved')).status).toBe(200);
    expect(await again()).toBe('ok');
    await client.close();
    await boss.post('/api/space', { isFourEyes: false });
  });

  it('a person signs in with a browser, decides, and looks after the space', async ({ skip }) => {
    const browser = (await startBrowser()) ?? skip('no browser');
    const { client, again } = await blocked(await tokenFor('shipper'), 'Release 5');
    await member('admin-person', 'reader', 'other');
    await run('member', 'set', `group:${provider.issuer}|Platform engineering`, 'approver', '--space', 'shop');
    const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
    const page = await context.newPage();
    const noise: string[] = [];
    page.on('pageerror', ({ message }) => noise.push(message));
    const signIn = async (who: string, ago = '0') => {
      await page.getByLabel('Name').fill(who);
      await page.getByLabel('Seconds ago').fill(ago);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    const look = async (name: string) => {
      if (isLong || ['signed-out', 'waiting', 'members', 'tokens', 'spaces'].includes(name))
        await expectAccessible(page, name);
      await picture(page, name);
    };
    await page.goto(`${PUBLIC}/s/shop/waiting`);
    await look('signed-out');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signIn('admin-person', '1000');
    const item = page.getByRole('article').filter({ hasText: 'Release 5' });
    await item.getByText('You signed in more than 15 minutes ago').waitFor();
    await look('waiting-stale');
    await item.getByRole('link', { name: 'Sign in again' }).click();
    await signIn('admin-person');
    await item.getByRole('button', { name: 'Approve' }).click();
    await item.getByText(`by ${principal('admin-person')}`).waitFor();
    await look('waiting');
    expect(await again()).toBe('ok');
    await page.getByText('The agent has seen it').waitFor();

    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('Release 5').first().waitFor();
    await page.getByText('shipper').first().waitFor();
    await look('sessions');
    await page.getByText('Release 5').first().click();
    await page.getByRole('heading', { level: 1, name: 'Release 5' }).waitFor();
    await page.getByText('Ship to production').first().waitFor();
    await look('session');
    expect(new URL(page.url()).pathname).toMatch(/^\/s\/shop\/sessions\/sess_/);
    const rail = page.getByRole('navigation', { name: 'Pages' });
    expect(await rail.getByRole('link').allTextContents()).toEqual([
      'Sessions',
      expect.stringContaining('Waiting'),
      'Search',
      'Open a file',
      'Team',
    ]);
    await rail.getByRole('link', { name: 'Team' }).click();
    await page
      .getByLabel('Role of https://idp|9')
      .or(page.getByText('People and groups with a role'))
      .first()
      .waitFor();
    await look('members');
    await page.getByLabel(/Give a person a role/).fill(`${provider.issuer}|new-person`);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByLabel(`Role of ${principal('new-person')}`).selectOption('approver');
    await page.getByText('is now approver.').waitFor();
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByLabel(/The program that uses/).fill('night-build');
    await page.getByRole('button', { name: 'Make a token' }).click();
    const text = (await page.getByRole('region', { name: 'The new token' }).getByText(/^wrp_/).textContent()) ?? '';
    expect((await mcp(bearer(text))).status).toBe(200);
    await look('tokens');
    await page.getByRole('row').filter({ hasText: 'night-build' }).getByRole('button').click();
    await page.getByRole('row').filter({ hasText: 'night-build' }).getByText('revoked').waitFor();
    expect((await mcp(bearer(text))).status).toBe(401);
    const flows = cloned('flows').path;
    mkdirSync(join(flows, 'workflows'));
    writeFileSync(join(flows, 'workflows', 'acme.release.json'), JSON.stringify({ ...RELEASE, id: 'acme.release' }));
    execFileSync('git', ['-C', flows, 'add', '-A']);
    execFileSync('git', ['-C', flows, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '-m', 'second']);
    await run('space', 'source', 'shop', `file://${flows}`);
    await page.getByRole('link', { name: 'Spaces' }).click();
    const source = page.getByRole('row').filter({ hasText: 'flows@' });
    await source.getByText('waits for an admin').waitFor();
    await look('spaces-waiting');
    await source.getByRole('button', { name: 'Accept' }).click();
    await source.getByText('in use').waitFor();
    await page.getByRole('row').filter({ hasText: 'shop' }).getByText('of 5,000').waitFor();
    await page.getByRole('row').filter({ hasText: 'other' }).getByText('reader').waitFor();
    await page.getByLabel('Open sessions at most').fill('8000');
    await page.getByLabel('Gigabytes at most').fill('2.5');
    const shown = `workrail space set shop space --four-eyes off --max-sessions 8000 --max-size 2.5 --database-url "$DB"`;
    await page.getByText(shown).waitFor();
    await page.getByRole('button', { name: 'Set the limits' }).click();
    await page.getByRole('row').filter({ hasText: 'shop' }).getByText('of 8,000').waitFor();
    await page.getByRole('row').filter({ hasText: 'shop' }).getByText('of 2.5 GB').waitFor();
    await page.getByLabel('Who may approve').selectOption('on');
    await page.getByText('space set shop space --four-eyes on').waitFor();
    await look('spaces');
    await page.getByLabel('Who may approve').selectOption('off');
    await page.getByText('space set shop space --four-eyes off').waitFor();
    expect(((await run('space', 'set', 'shop')).data as { limits: object }).limits).toEqual({
      openSessionsMax: 8_000,
      bytesMax: 2_500_000_000,
    });
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('row').filter({ hasText: 'night-build' }).first().waitFor();
    await look('audit');
    await page.getByRole('button', { name: 'Sign out' }).first().click();
    await page.getByRole('heading', { name: 'Sign in to see this space' }).waitFor();
    await run('member', 'remove', principal('admin-person'), '--space', 'other');
    await page.goto(`${PUBLIC}/s/other/`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'You have no role here' }).waitFor();
    await look('no-role');
    expect(noise).toEqual([]);
    await Promise.all([context.close(), client.close()]);
  });

  it('a group lets a person in with its role, who cannot take it from the group, and loses it with the group', async () => {
    const [group, other] = [`group:${provider.issuer}|Console admins`, `group:${provider.issuer}|readers`];
    // Only what a space knows is kept: the cookie of somebody in many groups would be too long for a browser.
    const many = Array.from({ length: 300 }, (_, at) => `group-${at}-${'x'.repeat(30)}`);
    provider.groups.set('grouped', [...many, 'Console admins', 'readers']);
    for (const one of ['shop', 'other']) await run('member', 'set', other, 'reader', '--space', one);
    await run('member', 'set', group, 'admin', '--space', 'shop');
    const grouped = await signedIn('grouped');
    expect(grouped.cookie.length).toBeLessThan(4_000);
    expect(JSON.parse((await grouped.get('/api/about')).text)).toMatchObject({ team: { role: 'admin' } });
    const { members } = JSON.parse((await grouped.get('/api/members')).text) as ConsoleReply<'members'>;
    expect(members).toEqual(expect.arrayContaining([{ principal: group, role: 'admin' }]));
    const { spaces } = JSON.parse((await grouped.get('/api/spaces')).text) as ConsoleReply<'spaces'>;
    expect(spaces.map(({ name, role }) => [name, role])).toEqual([
      ['other', 'reader'],
      ['shop', 'admin'],
    ]);
    const posted = [
      await grouped.post('/api/members/remove', { principal: group }),
      await grouped.post('/api/members', { principal: group, role: 'agent' }),
      await grouped.post('/api/members', { principal: `group:${provider.issuer}|Night shift`, role: 'agent' }),
      await grouped.post('/api/members/remove', { principal: `group:${provider.issuer}|Night shift` }),
    ];
    expect(posted.map(({ status }) => status)).toEqual([409, 409, 200, 200]);
    const { entries } = JSON.parse((await grouped.get('/api/audit')).text) as ConsoleReply<'audit'>;
    expect(entries.find(({ by }) => by === principal('grouped'))).toBeDefined();
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'signed_in', subject: `${principal('grouped')} as admin through ${group}` }),
      ]),
    );
    await run('member', 'remove', group, '--space', 'shop');
    expect((await grouped.get('/api/members')).status).toBe(403);
    expect((await grouped.get('/api/sessions')).status).toBe(200);
    for (const one of ['shop', 'other']) await run('member', 'remove', other, '--space', one);
    for (const _ of replicas) expect((await grouped.get('/api/sessions')).status).toBe(403);
    expect((await signedIn('grouped')).cookie.length).toBeLessThan(1_000);
  });

  it('a page that is open at one replica hears of what an agent does through another one', async () => {
    const alice = await signedIn('alice');
    let heard = 0;
    const listening = request({
      ...{ host: '127.0.0.1', port: replicas[0]?.port, path: '/s/shop/api/events', agent: false },
      headers: { host: `localhost:${publicPort}`, cookie: alice.cookie, [PAGE_KEY_HEADER]: alice.key },
    });
    listening.on('error', () => undefined);
    listening.on('response', (response) =>
      response.on('data', (part: Buffer) => {
        heard += part.toString().split('"changed"').length - 1;
      }),
    );
    listening.end();
    const token = await tokenFor('elsewhere');
    // The first notice is about what may have changed before it listened.
    await expect.poll(() => heard).toBeGreaterThan(0);
    const before = heard;
    const answer = await ask(replicas[1]?.port ?? 0, {
      method: 'POST',
      path: '/s/shop/mcp',
      headers: {
        ...{ host: `localhost:${publicPort}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18', ...bearer(token) },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'start_workflow', arguments: { workflowId: 'wr.first_steps', goal: 'Be seen.' } },
      }),
    });
    expect(answer.text).toContain('Be seen.');
    await expect.poll(() => heard).toBeGreaterThan(before);
    listening.destroy();
  }, 60_000);

  it('somebody whose role or sign-in has ended hears nothing more of the space', async () => {
    const streamOf = (person: Person) => {
      const got = person.get('/api/events');
      const state = { hasEnded: false };
      void got.then(() => {
        state.hasEnded = true;
      });
      return { got, state };
    };
    await member('leaver', 'reader');
    const [leaver, stays, leaves] = [await signedIn('leaver'), await signedIn('alice'), await signedIn('alice')];
    const streams = [leaver, stays, leaves].map(streamOf);
    await expect.poll(async () => (await stays.get('/api/sessions')).status).toBe(200);
    await run('member', 'remove', principal('leaver'), '--space', 'shop');
    await leaves.post('/api/sign-out', {});
    const [removed, , signedOut] = await Promise.all([streams[0]?.got, undefined, streams[2]?.got]);
    expect([removed?.status, signedOut?.status]).toEqual([200, 200]);
    expect(removed?.text).toContain('"hello"');
    // A copy of the cookie is of no use either, on any replica; another sign-in of the same person is not ended.
    for (const _ of replicas) expect((await leaves.get('/api/sessions')).status).toBe(401);
    for (const _ of replicas) expect((await stays.get('/api/sessions')).status).toBe(200);
    expect(streams[1]?.state.hasEnded).toBe(false);
    await stays.post('/api/sign-out', {});
    await streams[1]?.got;
    // Nothing of a space is announced to agents, so what they listen to ends at once.
    const token = await tokenFor('listener');
    const listening = await send({
      method: 'POST',
      path: '/s/shop/mcp',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ ...NEW_ERA.headers, 'mcp-method': 'subscriptions/listen', ...bearer(token) },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
        params: { ...NEW_ERA.params, notifications: { toolsListChanged: true, promptsListChanged: true } },
      }),
    });
    expect([listening.status, listening.text]).toEqual([200, expect.stringContaining('"resultType":"complete"')]);
  }, 60_000);

  it('a job of CI verifies a check of its own repository and commit, and nobody else does', async () => {
    const { path, sha } = cloned('checked');
    const trust = ['space', 'trust', 'shop', provider.issuer, '--host', 'git.example'];
    for (const less of [[], ['--ref', 'refs/heads/main'], ['--repository', 'acme/shop']]) {
      expect(await run(...trust, ...less)).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } });
    }
    await run(...trust, '--repository', 'acme/shop', '--ref', 'refs/heads/main');
    expect((await run('space', 'set', 'shop')).data).toMatchObject({
      ci: [{ issuer: provider.issuer, host: 'git.example', repositories: ['acme/shop'], ref: 'refs/heads/main' }],
    });
    const token = await tokenFor('worker');
    const client = await bridged(token, path);
    const started = await client.call('start_workflow', { workflowId: 'wr.checked', goal: 'Test it.' });
    const { ackToken, run: named } = started.structuredContent as unknown as Reply & { run: { tag: string } };
    const output = { notesMarkdown: 'All tests pass, believe me.' };
    let last = dataOf(await client.call('continue_workflow', { ackToken, output }));
    expect(last.kind).toBe('blocked');

    const claims = {
      iss: provider.issuer,
      sub: 'repo:acme/shop',
      aud: PUBLIC,
      repository: 'acme/shop',
      ref: 'refs/heads/main',
      sha,
    };
    const job = (changes: object = {}) =>
      provider.signed({ ...claims, exp: Math.floor(Date.now() / 1_000) + 60, ...changes });
    const asked = (credential: string, space = 'shop') =>
      send({
        path: `/s/${space}/api/attestations?run=${named.tag}&check=unit`,
        headers: { authorization: `Bearer ${credential}` },
      });
    const person = await signedIn('admin-person');
    const refused: readonly (readonly [status: number, what: string, got: Promise<Got>])[] = [
      [401, 'the token of an agent', asked(token)],
      [401, 'nothing', send({ path: `/s/shop/api/attestations?run=${named.tag}&check=unit` })],
      [401, 'another audience', asked(await job({ aud: 'https://other.example' }))],
      [401, 'another issuer', asked(await job({ iss: 'https://other.example' }))],
      [401, 'expired', asked(await job({ exp: 1 }))],
      [401, 'a space that trusts nobody', asked(await job(), 'other')],
      [401, 'a person', person.get(`/api/attestations?run=${named.tag}&check=unit`)],
      [
        401,
        "a person's access token",
        asked(await provider.accessToken('alice', { resource: `${PUBLIC}/s/shop/mcp`, scope: 'workrail:agent' })),
      ],
      [403, 'no claims of a job', asked(await job({ repository: undefined }))],
      [403, 'another branch', asked(await job({ ref: 'refs/heads/agent' }))],
      [403, 'another repository', asked(await job({ repository: 'acme/other' }))],
      [403, 'a tag with the name of the branch', asked(await job({ ref: 'main', ref_type: 'tag' }))],
      [409, 'another commit', asked(await job({ sha: '0'.repeat(40) }))],
    ];
    for (const [status, what, got] of refused) expect([what, (await got).status]).toEqual([what, status]);
    expect((await mcp(bearer(await job()))).status).toBe(403);

    const inJob = async (env: Record<string, string> = {}) => {
      const script = fileURLToPath(new URL('../../../examples/ci/attest.mjs', import.meta.url));
      const all = { PATH: process.env['PATH'] ?? '', WORKRAIL_CI_TOKEN: await job(), ...env };
      return spawnSync(process.execPath, [script, `${PUBLIC}/s/shop`, named.tag, 'unit'], {
        env: all,
        encoding: 'utf8',
      });
    };
    const failing = await inJob({ UNIT_EXIT: '1' });
    expect([failing.status, failing.stdout]).toEqual([1, expect.stringContaining('The check does not count')]);
    last = dataOf(await client.call('continue_workflow', last.nextCall.arguments));
    expect(last.kind).toBe('blocked');
    const passing = await inJob({ UNIT_EXIT: '0' });
    expect([passing.status, passing.stdout]).toEqual([0, expect.stringContaining('The check is verified.')]);
    // What CI ran on is not what the workspace has after another commit.
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args]);
    git('commit', '-q', '--allow-empty', '-m', 'More');
    const moved = await client.call('continue_workflow', last.nextCall.arguments);
    last = dataOf(moved);
    expect([last.kind, JSON.stringify(moved)]).toEqual([
      'blocked',
      expect.stringContaining('is at another commit now'),
    ]);
    git('reset', '-q', '--hard', sha);
    last = dataOf(await client.call('continue_workflow', last.nextCall.arguments));
    expect(last).toMatchObject({ kind: 'ok', isComplete: true });
    await client.close();
    await run('space', 'trust', 'shop', provider.issuer, '--remove');
    expect((await asked(await job())).status).toBe(401);
  });

  it('a sign-in that was not begun here, was changed or is over ends nowhere', async () => {
    const begun = await send({ path: '/s/shop/sign-in?to=//evil.example/x' });
    const attempt = cookieIn(begun);
    const answer = await atProvider(String(begun.headers['location']), 'alice', 0);
    for (const [path, cookie] of [
      [answer, ''],
      [answer, `${attempt.slice(0, -3)}AAA`],
    ] as const) {
      expect((await send({ path, headers: { ...(cookie !== '' && { cookie }) } })).status).toBe(400);
    }
    const refusedAt = [
      answer.replace(/state=[^&]+/, 'state=x'),
      answer.replace(/code=[^&]+/, 'code=x'),
      '/auth/callback?error=access_denied',
    ];
    for (const path of refusedAt) {
      const ended = await send({ path, headers: { cookie: attempt } });
      expect([ended.status, ended.headers['location'], cookieIn(ended, 'session')]).toEqual([
        303,
        `${PUBLIC}/s/shop/evil.example/x?sign-in=refused`,
        '',
      ]);
    }
    const right = await send({ path: answer, headers: { cookie: attempt } });
    // The provider gave the code out once, and a wrong one has spent nothing.
    expect([right.status, right.headers['location']]).toEqual([303, `${PUBLIC}/s/shop/evil.example/x`]);
    const again = await send({ path: answer, headers: { cookie: attempt } });
    expect(cookieIn(again, 'session')).toBe('');
    const [cookie] = [right.headers['set-cookie'] ?? []].flat().filter((one) => one.includes('session'));
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict; Path=\/; Max-Age=28800$/);
    const alice = await signedIn('alice');
    const left = await alice.post('/api/sign-out', {});
    expect([left.status, String(left.headers['set-cookie'])]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  });
});

type Era = { readonly headers?: Record<string, string>; readonly params?: object };

/** How a request of the newer protocol looks: it says everything about itself. */
const NEW_ERA: Era = {
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'matrix', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

type Reply = {
  readonly kind: string;
  readonly ackToken: string;
  readonly nextCall: { readonly arguments: Record<string, unknown> };
};

function dataOf({ structuredContent = {} }: ToolResult): Reply {
  return structuredContent as unknown as Reply;
}

/** For people who look: `WORKRAIL_SHOTS=FOLDER` keeps every view in both themes and two widths. */
async function picture(page: Page, name: string): Promise<void> {
  const kept = process.env['WORKRAIL_SHOTS'];
  if (kept === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(kept, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1_440, height: 900 });
}

function cookieIn({ headers }: Got, name = ''): string {
  const all = headers['set-cookie'] ?? [];
  const found = [all].flat().find((one) => one.includes(`workrail-${name}`));
  return found?.split(';')[0] ?? '';
}

/** What somebody does at the identity provider; returns the address with which the browser comes back. */
async function atProvider(address: string, who: string, ago: number): Promise<string> {
  const { pathname, search } = (await openId?.visit(address, who, ago)) ?? expect.fail('a provider');
  return `${pathname}${search}`;
}
