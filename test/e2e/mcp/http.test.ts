import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS } from '../clients.ts';
import { type HttpServer, startHttp } from './local-http.ts';

let dataDir: string;
let http: HttpServer;
let ownPort: number;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-http-'));
  http = await startHttp({ WORKRAIL_DATA_DIR: dataDir });
  ownPort = Number(new URL(http.url).port);
});

afterAll(async () => {
  await http.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string };
type Asked = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly port?: number;
};

/** Unlike `fetch`, this sends whatever Host and Origin it is told. */
function ask({ method = 'POST', path = '/mcp', headers = {}, body = LIST, port = ownPort }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers: { ...JSON_HEADERS, ...signedIn(), ...headers } },
      (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => {
          text += part.toString();
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
      },
    );
    sent.on('error', reject);
    sent.end(method === 'POST' ? body : undefined);
  });
}

const signedIn = () => ({ authorization: `Bearer ${http.token}` });
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

describe('a server on HTTP', () => {
  it('an HTTP server answers programs on this machine', async () => {
    const { status, body } = await ask({});
    expect(status).toBe(200);
    expect(body).toContain('continue_workflow');
    expect(
      (await ask({ headers: { host: `localhost:${ownPort}`, origin: `http://localhost:${ownPort}` } })).status,
    ).toBe(200);
  });

  it.each<readonly [what: string, headers: Record<string, string>]>([
    ['another host', { host: 'evil.example' }],
    ['another host that leads here', { host: 'evil.example:7433' }],
    ['a page of somebody else', { origin: 'http://evil.example' }],
    ['a page without a name', { origin: 'null' }],
    ['a page of another server of this machine', { origin: 'http://localhost:1' }],
    ['a page of another site without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['a page that hides its site behind another one', { 'sec-fetch-site': 'none, cross-site' }],
  ])('an HTTP server refuses %s on every route and with every method', async (_, headers) => {
    enforces('http_host_and_origin_checked');
    for (const path of ['/mcp', '/', '/anything', '/mcp/']) {
      for (const method of ['POST', 'GET', 'OPTIONS', 'DELETE']) {
        const { status, body } = await ask({ method, path, headers });
        expect([path, method, status]).toEqual([path, method, 403]);
        expect(body).not.toContain('continue_workflow');
      }
    }
  });

  it('an HTTP server answers only those who can read its token, which only the user can', async () => {
    enforces('http_needs_secret');
    expect(http.token).toMatch(/^[\w-]{43}$/);
    expect(statSync(join(dataDir, 'keys', 'http-token')).mode & 0o777).toBe(0o600);
    for (const authorization of [
      '',
      'Bearer ',
      'Bearer x',
      http.token,
      `Basic ${http.token}`,
      `Bearer ${http.token}x`,
    ]) {
      for (const path of ['/mcp', '/', '/anything']) {
        const { status, body, headers } = await ask({ path, headers: { authorization } });
        expect([authorization, status, headers['www-authenticate']]).toEqual([authorization, 401, 'Bearer']);
        expect(body).toContain('needs the token in the file keys/http-token of its data folder');
        expect(body).not.toContain(dataDir);
      }
    }
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await ask({ headers: { authorization: `${scheme} ${http.token}` } })).status).toBe(200);
    }
    const again = await startHttp({ WORKRAIL_DATA_DIR: dataDir });
    expect(again.token).toBe(http.token);
    await again.stop();
  });

  it('the server says which port it listens on, also where any free port was chosen', async () => {
    const { status, body } = await ask({ method: 'GET', path: '/about' });
    expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ port: ownPort })]);
  });

  it('over HTTP, an error contains no token that the caller did not send', async () => {
    enforces('http_needs_secret');
    const client = await (CLIENT_KINDS['client 2.x'] ?? expect.fail())(http);
    const started = await client.call('start_workflow', {
      workflowId: 'wr.first_steps',
      goal: 'x',
      workspacePath: dataDir,
    });
    const { stateToken, ackToken, checkpointToken } = started.structuredContent as Record<string, string>;
    const wrong = [
      ['continue_workflow', {}],
      ['continue_workflow', { stateToken, output: { notesMarkdown: 'done' } }],
      ['continue_workflow', { ackToken: stateToken }],
      ['continue_workflow', { ackToken: ackToken?.slice(0, 40) }],
      ['continue_workflow', { ackToken: `${ackToken}x` }],
      ['continue_workflow', { stateToken: checkpointToken }],
      ['checkpoint_workflow', { checkpointToken: ackToken }],
      ['checkpoint_workflow', {}],
    ] as const;
    for (const [tool, sent] of wrong) {
      const reply = await client.call(tool, sent);
      const said = JSON.stringify(reply);
      expect([tool, sent, reply.isError]).toEqual([tool, sent, true]);
      for (const token of [stateToken, ackToken, checkpointToken]) {
        const isSent = Object.values(sent).some((text) => text === token);
        expect([sent, isSent || !said.includes(String(token))]).toEqual([sent, true]);
      }
    }
    await client.close();
  });

  it('an HTTP server offers nothing to pages of other origins', async () => {
    enforces('http_host_and_origin_checked');
    for (const method of ['POST', 'OPTIONS', 'GET']) {
      const { headers } = await ask({ method });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('an HTTP server listens only on this machine', async () => {
    enforces('http_loopback_only');
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((one) => one !== undefined && !one.internal && one.family === 'IPv4');
    for (const address of others) {
      await expect(fetch(`http://${address?.address}:${ownPort}/mcp`)).rejects.toThrow();
    }
    expect(new URL(http.url).hostname).toBe('127.0.0.1');
  });

  it('an HTTP server reports what it cannot read and continues', async () => {
    for (const body of ['hello?', '', '[', '{"jsonrpc":"2.0"}', 'x'.repeat(1_000_000)]) {
      const { status } = await ask({ body });
      expect([body.slice(0, 20), status >= 400 && status < 500]).toEqual([body.slice(0, 20), true]);
    }
    expect((await ask({ headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await ask({ path: '/other' })).status).toBe(404);
    expect((await ask({})).status).toBe(200);
  });

  it.each<readonly [NodeJS.Signals, number]>([
    ['SIGTERM', 0],
    ['SIGHUP', 0],
    ['SIGINT', 130],
  ])('an HTTP server stops on %s with exit code %i, even while a client is connected', async (signal, exitCode) => {
    const own = await startHttp({ WORKRAIL_DATA_DIR: dataDir });
    await ask({ headers: { connection: 'keep-alive' }, port: Number(new URL(own.url).port) });
    expect(await own.stop(signal)).toBe(exitCode);
  });

  it('an HTTP server refuses a port in use', async () => {
    const { spawnSync } = await import('node:child_process');
    const { status, stderr } = spawnSync(process.execPath, ['dist/workrail.js', 'serve', '--http', String(ownPort)], {
      env: { WORKRAIL_DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/Port \d+ is in use.*\nFix: /)]);
  });
});
