import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';

const LINE_BYTES_MAX = 64 * 1024 * 1024;
const PING = '{"jsonrpc":"2.0","id":"ping","method":"ping"}';
const PONG = { jsonrpc: '2.0', id: 'ping', result: {} };

let dataDir: string;
let server: ChildProcessWithoutNullStreams;
let replies: AsyncIterator<string>;
let talk: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-transport-'));
  server = spawn(process.execPath, ['dist/workrail.js', 'serve'], { env: { WORKRAIL_DATA_DIR: dataDir } });
  replies = createInterface(server.stdout)[Symbol.asyncIterator]();
  talk = '';
  server.stderr.on('data', (part: Buffer) => {
    talk += part.toString();
  });
});

afterEach(() => {
  server.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

it('a call of the maximum length is answered, and so is the next one', async () => {
  server.stdin.write(`${callOfBytes(LINE_BYTES_MAX)}\n${PING}\n`);
  // Two calls at once are answered in whatever order.
  const answers = [PONG, expect.objectContaining({ id: 1, result: expect.objectContaining({ isError: true }) })];
  expect([await reply(), await reply()]).toEqual(expect.arrayContaining(answers));
  expect(await ended()).toEqual({ exitCode: 0, talk: '' });
});

it('a longer call is ignored, reported on standard error, and the server continues', async () => {
  server.stdin.write(`${callOfBytes(LINE_BYTES_MAX + 1)}\n${PING}\n`);
  expect(await reply()).toEqual(PONG);
  expect(await ended()).toEqual({ exitCode: 0, talk: expect.stringMatching(/^workrail: .*67108864 bytes.*\n$/) });
});

const NO_MESSAGE = 'workrail: Ignored a line that is not a single protocol message.\n';

it.each([
  ['words', 'hello?', ''],
  ['nothing', '', ''],
  ['half a message', PING.slice(0, -1), ''],
  ['bytes that are no text', '\u0000\ufffd', ''],
  ['JSON that is no message', '{"hello":"there"}', NO_MESSAGE],
  ['several messages in a list', `[${PING},${PING}]`, NO_MESSAGE],
  ['a list of none', '[]', NO_MESSAGE],
])('the server continues after %s', async (_, line, said) => {
  server.stdin.write(`${line}\n${PING}\n`);
  expect(await reply()).toEqual(PONG);
  server.stdin.write(`${PING}\r\n`);
  expect(await reply()).toEqual(PONG);
  expect(await ended()).toEqual({ exitCode: 0, talk: said });
});

it('the server stops if its output is closed', async () => {
  server.stdin.write(`${PING}\n`);
  expect(await reply()).toEqual(PONG);
  server.stdout.destroy();
  server.stdin.write(`${PING}\n`);
  const [exitCode] = await once(server, 'exit');
  expect(exitCode).toBe(0);
});

/** A call of continue_workflow with a token that makes its line, newline and all, so many bytes long. */
function callOfBytes(bytes: number): string {
  const call = (ackToken: string) => {
    const params = { name: 'continue_workflow', arguments: { ackToken } };
    return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  };
  return call('x'.repeat(bytes - call('').length - 1));
}

async function reply(): Promise<unknown> {
  const { value } = await replies.next();
  return JSON.parse(value);
}

async function ended(): Promise<{ readonly exitCode: number; readonly talk: string }> {
  server.stdin.end();
  const [exitCode] = await once(server, 'close');
  return { exitCode, talk };
}
