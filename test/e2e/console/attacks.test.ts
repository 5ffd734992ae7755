import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../../src/core/wire/console-paths.ts';
import { enforces } from '../../enforces.ts';
import { type ConsoleFixture, consoleFixture, type OpenPage, openPage } from './console-fixture.ts';
import { ask, signedIn, startConsole } from './console-server.ts';

const SCRIPTS =
  '<script>window.pwned=1</script> <img src=x onerror="window.pwned=1"> <svg onload="window.pwned=1"> ' +
  '[here](javascript:window.pwned=1) [data](data:text/html,<script>window.pwned=1</script>) <a href="javascript:1">x</a>';
const HOSTILE = {
  'Goal of scripts <script>window.pwned=1</script>': SCRIPTS,
  'Goal of one long note': 'long '.repeat(13_000).slice(0, 65_000),
  'Goal from right to left \u202egnp.exe': 'Read \u202ethis\u202c and \u2066that\u2069, a\u200bb.',
  'Goal of many lines': 'x\n'.repeat(10_000),
};

let fixture: ConsoleFixture;
let opened: OpenPage | undefined;
/** A page that a program of another user might serve. */
let foreign: Server;
/** The cookie that browsers send to it. */
let leaked = '';
let waiting: string;

beforeAll(async () => {
  fixture = await consoleFixture(async ({ start, hand, agent }) => {
    for (const [goal, notes] of Object.entries(HOSTILE)) await hand(await start('project.review', goal), notes);
    const deep = JSON.parse(`${'{"a":'.repeat(47)}1${'}'.repeat(47)}`) as Record<string, unknown>;
    const big = { kind: 'note', text: SCRIPTS.repeat(900).slice(0, 200_000) };
    const ackToken = await start('project.review', 'Goal of deep data');
    await agent.call('continue_workflow', {
      ackToken,
      context: { deep },
      output: { notesMarkdown: 'Deep.', artifacts: [big] },
    });
    waiting = await hand(await start('project.release', 'Release it'), SCRIPTS);
  });
  opened = await openPage(fixture);
  foreign = createServer((request, response) => {
    leaked = request.headers.cookie ?? leaked;
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>foreign</title>');
  });
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  foreign.close();
  await opened?.close();
  await fixture.end();
});

it('ids with characters of paths, unknown names and bodies of the wrong form are refused in words', async () => {
  enforces('console_error_envelope');
  const server = await startConsole(fixture.place());
  const call = await signedIn(server);
  const ids = ['..%2f..%2fkeys', '%00', '..', 'sess_%2e%2e', 'a'.repeat(3_000), '%F0%9F%92%A9', 'constructor'];
  for (const id of ids) {
    for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/report?as=md`, `/api/sessions/${id}/mark`]) {
      const isWrite = path.endsWith('/mark');
      const got = await call({
        method: isWrite ? 'POST' : 'GET',
        path,
        ...(isWrite ? { body: '{"mark":"kept"}' } : {}),
      });
      expect([path, [400, 404].includes(got.status), JSON.parse(got.text)]).toMatchObject([
        path,
        true,
        { error: { code: expect.any(String), message: expect.any(String), suggestion: expect.any(String) } },
      ]);
      expect(got.text).not.toMatch(/at .*\.js:\d+/);
    }
  }
  for (const body of ['{}', '[]', '{"mark":"__proto__"}', '{"__proto__":{"mark":"kept"}}', 'x'.repeat(200_000)]) {
    const got = await call({ method: 'POST', path: '/api/sessions/sess_0000000000000000/mark', body });
    expect([body.slice(0, 40), got.status]).toEqual([body.slice(0, 40), 400]);
  }
  await server.stop();
});

it('a page on another port of this machine gets the cookie, and can neither read nor change anything', async ({
  skip,
}) => {
  const { context, page } = opened ?? skip('no chromium');
  const listed = async () =>
    page.evaluate<string>(`fetch('/api/sessions', { headers: { 'x-workrail':
    sessionStorage.getItem('workrail-key') } }).then((got) => got.text())`);
  const before = await listed();
  expect(before).toContain('Release it');
  const sessionId = /"sessionId":"(sess_\w+)"/.exec(before)?.[1] ?? expect.fail();
  const evil = await context.newPage();
  await evil.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
  const target = `http://127.0.0.1:${fixture.server.port}`;
  const tries = Object.values(CONSOLE_PATHS).map(([method, path]) => [
    method,
    `${target}${path.replace(':session', sessionId).replace(':node', 'node_0').replace(':run', 'run_0')}`,
  ]);
  const results = await evil.evaluate<readonly string[]>(`(async () => {
    const seen = [];
    for (const [method, url] of ${JSON.stringify(tries)}) {
      for (const mode of ['cors', 'no-cors']) {
        for (const type of ['text/plain', 'application/json']) {
          const body = method === 'POST' ? '{"mark":"deleted"}' : undefined;
          const sent = { method, mode, body, credentials: 'include', ...(body && { headers: { 'content-type': type } }) };
          seen.push(await fetch(url, sent).then((got) => got.type === 'opaque' ? 'opaque' : got.text(), () => 'blocked'));
        }
      }
    }
    seen.push(await new Promise((done) => {
      const source = new EventSource('${target}/api/events', { withCredentials: true });
      source.onmessage = () => done('heard');
      source.onerror = () => { source.close(); done('blocked'); };
    }));
    seen.push(await new Promise((done) => {
      const script = document.createElement('script');
      script.src = '${target}/api/sessions';
      script.onload = () => done('loaded');
      script.onerror = () => done('blocked');
      document.head.append(script);
    }));
    seen.push(await new Promise((done) => {
      const frame = document.createElement('iframe');
      frame.src = '${target}/';
      frame.onload = () => { try { done(frame.contentDocument ? 'read' : 'blocked'); } catch { done('blocked'); } };
      document.body.append(frame);
    }));
    return [...new Set(seen)];
  })()`);
  expect(results).toEqual(['blocked']);
  // Browsers send the cookie to every port of this machine, so the program behind that page knows it.
  expect(leaked).toContain(`wr_${fixture.server.port}=`);
  for (const [method, url] of tries) {
    const headers = { host: `127.0.0.1:${fixture.server.port}`, cookie: leaked, 'content-type': 'application/json' };
    const path = String(url).slice(target.length);
    const body = method === 'POST' ? { body: '{"mark":"deleted"}' } : {};
    const got = await ask(fixture.server.port, { method: String(method), path, headers, ...body });
    expect([path, got.status]).toEqual([path, 401]);
  }
  expect(await listed()).toBe(before);
  const retried = await fixture.agent.call('continue_workflow', { ackToken: waiting });
  expect(retried.structuredContent?.['kind']).toBe('blocked');
  await evil.close();
});

it('hostile notes, goals, artifacts and values are shown as text on every page, and no secret is in the page', async ({
  skip,
}) => {
  const { page, noise, text } = opened ?? skip('no chromium');
  const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;
  const expectInert = async (path: string) => {
    expect([path, await page.evaluate('typeof window.pwned')]).toEqual([path, 'undefined']);
    const made = await page.evaluate<readonly string[]>(`[...document.querySelectorAll(
      'main script, main img, main iframe, main object, main [onerror], main [onload], main a[href^="javascript:"],' +
      'main a[href^="data:"]')].map((one) => one.outerHTML)`);
    expect([path, made]).toEqual([path, []]);
    const html = await page.evaluate<string>('document.documentElement.outerHTML');
    const key = await page.evaluate<string>("sessionStorage.getItem('workrail-key')");
    expect([path, html.includes(key), page.url().includes(key)]).toEqual([path, false, false]);
  };
  await page.goto(address('/'));
  await page.waitForSelector('.row');
  await expectInert('/');
  expect(await text()).toContain('Goal from right to left');
  const sessions = await page.evaluate<readonly string[]>(`fetch('/api/sessions', { headers: { 'x-workrail':
    sessionStorage.getItem('workrail-key') } }).then((got) => got.json()).then(({ rows }) => rows.map((row) => row.sessionId))`);
  for (const path of ['/waiting', '/search?q=window.pwned', `/compare?a=${sessions[1]}&b=${sessions[4]}`]) {
    await page.goto(address(path));
    await page.waitForSelector('main h1');
    await page.waitForSelector('main .panel');
    await expectInert(path);
  }
  for (const session of sessions) {
    await page.goto(address(`/sessions/${session}?tab=notes`));
    await page.waitForSelector('main [role="tabpanel"]');
    for (const tab of ['1', '2', '4', '6']) {
      await page.keyboard.press(tab);
      await expectInert(`${session} ${tab}`);
    }
  }
  expect(noise).toEqual([]);
}, 60_000);
