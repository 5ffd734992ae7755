import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;
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

it('a longer call is refused, reported on standard error, and the server continues', async () => {
  enforces('message_limits');
  server.stdin.write(`${callOfBytes(LINE_BYTES_MAX + 1)}\n${PING}\n`);
  expect(await reply()).toEqual(refused(-32_600));
  expect(await reply()).toEqual(PONG);
  expect(await ended()).toEqual({ exitCode: 0, talk: expect.stringMatching(/^workrail: .*16777216 bytes.*\n$/) });
});

/** The answer to a line whose id is not known. */
function refused(code: number): object {
  return { jsonrpc: '2.0', id: null, error: { code, message: expect.stringMatching(/^Nothing was done: /) } };
}

it('the server answers lines that are no message with an error, and continues', async () => {
  enforces('message_limits');
  const lines = [
    ['words', 'hello?', -32_700],
    ['half a message', PING.slice(0, -1), -32_700],
    ['bytes that are no text', '\u0000\ufffd', -32_700],
    ['JSON that is no message', '{"hello":"there"}', -32_600],
    ['several messages in a list', `[${PING},${PING}]`, -32_600],
    ['a list of none', '[]', -32_600],
    ['a million keys', `{${'"":0,'.repeat(1_000_000)}"":0}`, -32_600],
    ['a million values', `[${'0,'.repeat(1_000_000)}0]`, -32_600],
    ['a hundred thousand levels', '['.repeat(100_000), -32_600],
  ] as const;
  for (const [what, line, code] of lines) {
    server.stdin.write(`${line}\n\n`);
    expect([what, await reply()]).toEqual([what, refused(code)]);
    server.stdin.write(`${PING}\r\n`);
    expect([what, await reply()]).toEqual([what, PONG]);
  }
  const { exitCode, talk: said } = await ended();
  expect([exitCode, said.match(/^workrail: Nothing was done: .*\n/gm)?.length]).toEqual([0, lines.length]);
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
