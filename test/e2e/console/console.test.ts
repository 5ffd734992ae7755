import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_COMMANDS } from '../../../src/core/wire/console-commands.ts';
import { CONSOLE_PATHS, type ConsolePath } from '../../../src/core/wire/console-paths.ts';
import { CONSOLE_REPLIES } from '../../../src/core/wire/console-shapes.ts';
import { enforces } from '../../enforces.ts';
import { startBrowser } from '../browser.ts';
import { CLIENT_KINDS, type TestClient } from '../clients.ts';
import { CTRL_C, hasTerminal, spawnAtTerminal } from '../terminal.ts';
import { expectAccessible } from './console-fixture.ts';
import { type Asked, ask, type RunningConsole, signedIn, startConsole } from './console-server.ts';
import { pageRenderer } from './rendered-page.ts';

const RELEASE = {
  id: 'project.release',
  name: 'Release',
  description: 'Ships it.',
  version: '1.0.0',
  steps: [
    { id: 'ship', title: 'Ship to production', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } },
    { id: 'tell', title: 'Tell them', prompt: 'Tell everybody.' },
  ],
};

const HOSTILE =
  '<img src=x onerror="document.title=1"> [here](javascript:alert(1)) `code`\n\n# A heading\n\n- one\n- two';

type Step = {
  readonly ackToken: string;
  readonly kind: string;
  readonly nextCall?: { readonly arguments: Record<string, unknown> };
};

let folder: string;
let server: RunningConsole;
let agent: TestClient;
/** The token of the step that waits for a person. */
let waiting: string;

const place = () => ({ env: { WORKRAIL_DATA_DIR: join(folder, 'data') }, cwd: join(folder, 'here') });

async function send(tool: string, given: Record<string, unknown>): Promise<Step> {
  return (await agent.call(tool, given)).structuredContent as unknown as Step;
}

const done = (ackToken: string, notesMarkdown: string) =>
  send('continue_workflow', { ackToken, output: { notesMarkdown } });

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-console-')));
  const workflows = join(folder, 'here', '.workrail', 'workflows');
  mkdirSync(workflows, { recursive: true });
  writeFileSync(join(workflows, 'project.release.json'), JSON.stringify(RELEASE));
  agent = await (CLIENT_KINDS['client 2.x'] ?? expect.fail())(place());
  const first = await send('start_workflow', { workflowId: 'wr.first_steps', goal: 'Improve the date parser' });
  const second = await done(first.ackToken, `Looked around. ${HOSTILE}`);
  await done(second.ackToken, 'File: README.md\nChange: the second example.\nWhy: it is wrong.');
  const used = await done(second.ackToken, 'File: test/a.ts\nChange: a test.\nWhy: leap days.');
  // The token was used with other notes; the reply offers the call that does the step again on a branch of its own.
  expect((await send('continue_workflow', used.nextCall?.arguments ?? {})).kind).toBe('ok');
  const gate = await send('start_workflow', { workflowId: 'project.release', goal: 'Release 2.4' });
  waiting = (await done(gate.ackToken, 'Shipped 2.4 to production.')).ackToken;
  server = await startConsole(place());
});

afterAll(async () => {
  await agent.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('without a link', () => {
  const own = () => ({ host: `127.0.0.1:${server.port}` });
  const json = { 'content-type': 'application/json' };

  it('no request below /api is answered, and no page of another origin, site or host is', async () => {
    enforces('console_launch_secret');
    const cookie = { cookie: `wr_${server.port}=guess` };
    for (const [name, [method, path]] of Object.entries(CONSOLE_PATHS)) {
      if (name === 'signIn') continue;
      const got = await ask(server.port, {
        method,
        path,
        headers: { ...own(), ...json, ...cookie, 'x-workrail': 'guess' },
      });
      expect([name, got.status]).toEqual([name, 401]);
    }
    const foreign: readonly Record<string, string>[] = [
      { ...own(), origin: 'http://evil.example' },
      { ...own(), origin: `http://127.0.0.1:${server.port + 1}` },
      { ...own(), origin: 'null' },
      { ...own(), 'sec-fetch-site': 'same-site' },
      { ...own(), 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const got = await ask(server.port, { path: '/api/sessions', headers });
      expect([headers, got.status]).toEqual([headers, 403]);
    }
    for (const host of ['evil.example', `evil.example:${server.port}`, '127.0.0.1', '127.0.0.1:1']) {
      for (const path of ['/', '/api/about']) {
        expect([host, path, (await ask(server.port, { path, headers: { host } })).status]).toEqual([host, path, 421]);
      }
    }
  });

  it('a code works once, and a wrong body or type is refused before it is read', async () => {
    enforces('console_launch_secret');
    const path = CONSOLE_PATHS.signIn[1];
    const post = (body: string, headers: Record<string, string> = json) =>
      ask(server.port, { method: 'POST', path, headers: { ...own(), ...headers }, body });
    expect((await post('{"code":"guess"}')).status).toBe(401);
    expect((await post('not json')).status).toBe(401);
    expect((await post('{"code":"guess"}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect([0, 413]).toContain((await post(JSON.stringify({ code: 'x'.repeat(2_000_000) }))).status);
    const other = await startConsole(place());
    const code = JSON.stringify({ code: new URL(other.link).hash.slice(1) });
    const signIn = () =>
      ask(other.port, { method: 'POST', path, headers: { host: `127.0.0.1:${other.port}`, ...json }, body: code });
    const first = await signIn();
    expect(first.headers['set-cookie']?.[0]).toMatch(/^wr_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const { key } = JSON.parse(first.text) as { key: string };
    const about = (headers: Record<string, string>) =>
      ask(other.port, { path: '/api/about', headers: { host: `127.0.0.1:${other.port}`, ...headers } });
    expect((await about({ cookie, 'x-workrail': key })).status).toBe(200);
    // Browsers send the cookie to every port of this machine; the key they do not.
    expect((await about({ cookie })).status).toBe(401);
    expect((await about({ 'x-workrail': key })).status).toBe(401);
    expect(
      (await ask(server.port, { path: '/api/about', headers: { ...own(), cookie, 'x-workrail': key } })).status,
    ).toBe(401);
    expect((await signIn()).status).toBe(401);
    await other.stop();
  });

  it('replies have their published shapes, and only an answer that fits an open draft is recorded', async () => {
    enforces('console_error_envelope');
    const other = await startConsole(place());
    const call = (asked: Asked) => ask(other.port, { ...asked, headers: { ...signed, ...json, ...asked.headers } });
    const signed: Record<string, string> = { host: `127.0.0.1:${other.port}` };
    const code = JSON.stringify({ code: new URL(other.link).hash.slice(1) });
    const first = await call({ method: 'POST', path: CONSOLE_PATHS.signIn[1], body: code });
    // A server on another port can set a cookie of the same name; the right one still counts.
    signed['cookie'] = `wr_${other.port}=bad; ${first.headers['set-cookie']?.[0]?.split(';')[0]}`;
    signed['x-workrail'] = (JSON.parse(first.text) as { key: string }).key;
    const seen = await call({ path: CONSOLE_PATHS.waiting[1] });
    const [item] = (JSON.parse(seen.text) as { waiting: { sessionId: string; nodeId: string; digest: string }[] })
      .waiting;
    const { sessionId, nodeId, digest } = item ?? expect.fail('something waits');
    const { runId } = CONSOLE_REPLIES.waiting.parse(JSON.parse(seen.text)).waiting[0] ?? expect.fail();
    const paths = {
      about: CONSOLE_PATHS.about[1],
      sessions: CONSOLE_PATHS.sessions[1],
      session: `/api/sessions/${sessionId}`,
      prompt: `/api/sessions/${sessionId}/nodes/${nodeId}/prompt`,
      resume: `/api/sessions/${sessionId}/runs/${runId}/resume`,
    } as const;
    for (const [name, path] of Object.entries(paths)) {
      const shape = CONSOLE_REPLIES[name as keyof typeof paths];
      expect([name, shape.safeParse(JSON.parse((await call({ path })).text)).error]).toEqual([name, undefined]);
    }
    const answer = (given: object, node = nodeId) =>
      call({ method: 'POST', path: `/api/sessions/${sessionId}/gates/${node}/answer`, body: JSON.stringify(given) });
    const refused: readonly [object, number, string?][] = [
      [{ digest, decision: 'answered' }, 409],
      [{ digest, decision: 'approved', value: 'yes' }, 409],
      [{ digest: `sha256:${'0'.repeat(64)}`, decision: 'approved' }, 409],
      [{ digest, decision: 'approved' }, 409, 'node_0000000000000000'],
      [{ digest, decision: 'approved', comment: 'a\ud800b' }, 400],
      [{ digest, decision: 'answered', value: 1e22 }, 400],
      [{ digest, decision: 'maybe' }, 400],
    ];
    for (const [given, status, node] of refused) {
      const got = await answer(given, node);
      expect([given, got.status, JSON.parse(got.text)]).toMatchObject([
        given,
        status,
        { error: { message: expect.any(String) } },
      ]);
    }
    expect((await call({ path: `/api/sessions/${sessionId.slice(0, -4)}0000` })).status).toBe(404);
    const tried = await send('continue_workflow', { ackToken: waiting });
    expect(tried.kind).toBe('blocked');
    waiting = tried.ackToken;
    await other.stop();
  });

  it('a console that was not started at a terminal shows what waits, and records no decision', async () => {
    enforces('console_decides_at_terminal');
    const other = await startConsole({ ...place(), isAtTerminal: false });
    const call = await signedIn(other);
    const post = async (path: string, body: string) => (await call({ method: 'POST', path, body })).text;
    const { waiting: found } = CONSOLE_REPLIES.waiting.parse(JSON.parse((await call({ path: '/api/waiting' })).text));
    const { sessionId, runId, nodeId, digest } = found[0] ?? expect.fail('something waits');
    const at = `/api/sessions/${sessionId}`;
    const mode = { mode: 'full_auto_never_stop' };
    const bundle = (await call({ path: `${at}/report?as=bundle` })).text;
    const decisions: readonly (readonly [path: string, body: string])[] = [
      [`${at}/gates/${nodeId}/answer`, JSON.stringify({ digest, decision: 'approved' })],
      [`${at}/runs/${runId}/preferences`, JSON.stringify({ ...mode, isLoosening: true })],
      ['/api/import?accept=1', bundle],
    ];
    for (const [path, body] of decisions) {
      expect([path, await post(path, body)]).toEqual([path, expect.stringContaining('was not started at a terminal')]);
    }
    expect(await post(`${at}/runs/${runId}/preferences`, JSON.stringify(mode))).toContain('Nothing was changed');
    const { text } = await pageRenderer(call)('/waiting');
    expect(text).toContain('Shipped 2.4 to production.');
    expect(text).toContain('This console was not started at a terminal, so it takes no decisions');
    expect(text).not.toContain('Approve');
    const tried = await send('continue_workflow', { ackToken: waiting });
    expect(tried.kind).toBe('blocked');
    waiting = tried.ackToken;
    await other.stop();
  });

  it.runIf(hasTerminal && process.platform === 'linux')(
    'the browser is opened on a file that only the user can read, and no command line has the secret',
    async () => {
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      const opener = `#!/bin/sh\necho "$@" > ${bin}/args\nstat -c %a "$1" > ${bin}/mode\ncp "$1" ${bin}/page\nmv ${bin}/page ${bin}/opened\n`;
      writeFileSync(join(bin, 'xdg-open'), opener, { mode: 0o755 });
      const env = { ...place().env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
      const child = spawnAtTerminal(['console', '--port', '0'], { ...place(), env });
      const ended = once(child, 'exit');
      const kept = (name: string) => readFileSync(join(bin, name), 'utf8').trim();
      await expect.poll(() => existsSync(join(bin, 'opened'))).toBe(true);
      const [, port, code] = /url=http:\/\/localhost:(\d+)\/#([\w-]{43})"/.exec(kept('opened')) ?? [];
      expect([kept('mode'), kept('args').includes(code ?? ''), existsSync(kept('args'))]).toEqual(['600', false, true]);
      const headers = { host: `127.0.0.1:${port}`, ...json };
      const asked = { method: 'POST', path: CONSOLE_PATHS.signIn[1], headers, body: JSON.stringify({ code }) };
      expect((await ask(Number(port), asked)).status).toBe(200);
      child.stdin.write(CTRL_C);
      await ended;
      expect(existsSync(kept('args'))).toBe(false);
    },
  );

  it('every response has a policy that lets the page load only its own files, and none lets another origin read it', async () => {
    enforces('console_csp_no_cors');
    for (const path of [
      '/',
      '/sessions/x',
      '/assets/none.js',
      '/api/about',
      '/%2e%2e/package.json',
      '/assets/..%2f..%2fserver.js',
    ]) {
      const { headers, text } = await ask(server.port, {
        path,
        headers: { ...own(), origin: `http://127.0.0.1:${server.port}` },
      });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]+'; /,
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(text).not.toContain('"devDependencies"');
    }
  });

  it('nothing but the listed requests exists, and those that write set a mode or marks, import a file, record an answer or save a file of the author', async () => {
    enforces('console_is_not_execution_plane', 'console_settings_scope');
    const writes = Object.entries(CONSOLE_PATHS).filter(([, [method]]) => method !== 'GET');
    /** They carry a text that is tried out, and store nothing. */
    const tried = ['checkText', 'suggest', 'previewText', 'rehearse', 'testText'];
    const saved = ['saveFile', 'createWorkflow'];
    /** Each is a command that the page shows before it is run. */
    const commands = Object.keys(CONSOLE_COMMANDS).filter((name) => CONSOLE_PATHS[name as ConsolePath][0] !== 'GET');
    /** The first is stored nowhere: it is what a passkey signs. */
    const signing = ['challenge', 'addPasskey'];
    const stored = ['signIn', 'prefer', 'mark', 'import', 'answer'];
    expect(writes.map(([name]) => name)).toEqual([...stored, ...signing, ...commands, ...tried, ...saved]);
    expect(commands).toEqual([
      ...['setSetting', 'addSource', 'removeSource', 'updateSource', 'register', 'unregister', 'fix', 'collect'],
      'rotateKeys',
    ]);
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const got = await ask(server.port, { method, path: '/api/sessions', headers: { ...own(), ...json } });
      expect(got.status).toBe(401);
    }
  });
});

describe('in a browser', () => {
  let browser: Browser | undefined;
  let context: BrowserContext;
  let page: Page;
  const noise: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    if (browser === undefined) return;
    context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
    page = await context.newPage();
    page.on('console', (message) => noise.push(message.text()));
    page.on('pageerror', ({ message }) => noise.push(message));
    await page.goto(server.link);
    await page.waitForSelector('.row');
  });
  afterAll(async () => {
    if (browser !== undefined) await context.close();
  });

  const whole = () => page.locator('main').textContent();

  it('the list shows every session, finds by words, and the address keeps what was asked', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    expect(page.url()).not.toContain('#');
    expect(await page.locator('.row').count()).toBe(2);
    await page.keyboard.press('/');
    await page.keyboard.type('parser');
    await page.getByText('Release 2.4').waitFor({ state: 'detached' });
    expect(await whole()).toContain('Improve the date parser');
    expect(page.url()).toContain('q=parser');
    await page.locator('.list').focus();
    await expectAccessible(page, 'list');
  });

  it('a note of an agent is shown as it was written, and nothing in it runs', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.step');
    await page.keyboard.press('Home');
    await page.locator('.step').first().click();
    await page.keyboard.press('1');
    await page.locator('.note').first().waitFor();
    expect(await whole()).toContain('Looked around. <img src=x onerror="document.title=1"> here code');
    expect(await page.locator('.note img, .note a, .note script').count()).toBe(0);
  });

  it('what waits is shown as it would be approved, the answer opens the gate, and the page hears of the next step', async ({
    skip,
  }) => {
    if (browser === undefined) return skip('no chromium');
    if (!hasTerminal) return skip('no pseudo-terminal');
    expect(await page.title()).toBe('(1) WorkRail');
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.waitForSelector('.waiting-item');
    expect(await whole()).toContain('Shipped 2.4 to production.');
    await expectAccessible(page, 'waiting');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Already approved').first().waitFor();
    expect((await send('continue_workflow', { ackToken: waiting })).kind).toBe('ok');
    await page.getByText('Nothing is waiting for you.').first().waitFor();
    expect(await page.title()).toBe('WorkRail');
    expect(noise).toEqual([]);
  });

  it('a session can be handed to a new chat, saved as a report without secrets, closed and kept', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`http://127.0.0.1:${server.port}/?q=parser`);
    await page.locator('.row').click();
    await page.getByRole('button', { name: 'Copy resume prompt' }).click();
    await page.getByText('Copied: paste it into a new chat').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(
      'resume_session {"sessionId":"sess_',
    );
    await page.locator('.step').first().click();
    await page.keyboard.press('1');
    await page.getByRole('button', { name: 'Copy the notes' }).first().click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(`Looked around. ${HOSTILE}`);
    const saveMarkdown = async () => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
    };
    const [saved] = await Promise.all([page.waitForEvent('download'), saveMarkdown()]);
    expect(saved.suggestedFilename()).toMatch(/^workrail-\w+\.md$/);
    expect(readFileSync(await saved.path(), 'utf8')).toContain('Improve the date parser');
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Stop keeping' }).waitFor();
    expect(noise).toEqual([]);
  });

  it('a second tab of the browser is signed in by the first, and another browser is not', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_launch_secret');
    const tab = await context.newPage();
    await tab.goto(`http://127.0.0.1:${server.port}/waiting`);
    await tab.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await tab.close();
    const stranger = await browser.newContext();
    const theirs = await stranger.newPage();
    await theirs.goto(`http://127.0.0.1:${server.port}/`);
    await theirs.getByText('This page needs a link').first().waitFor();
    expect(await theirs.locator('.row').count()).toBe(0);
    await stranger.close();
  });
});
