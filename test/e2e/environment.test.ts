import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-environment-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a server', () => {
  it.each([
    [
      { WORKRAIL_TOKEN_FORMAT: 'v3' },
      'WORKRAIL_TOKEN_FORMAT is "v3", but must be v1 (long) or v2 (short, the default).',
    ],
    [
      { WORKRAIL_DATA_DIR: '~nobody/runs' },
      'WORKRAIL_DATA_DIR is "~nobody/runs", but must be an absolute path, or a path that starts with ~/ (your home folder).',
    ],
    [
      { WORKRAIL_DATA_DIR: 'relative/x' },
      'WORKRAIL_DATA_DIR is "relative/x", but must be an absolute path, or a path that starts with ~/ (your home folder).',
    ],
    [
      { WORKRAIL_ENABLE_START_SESSION: 'maybe' },
      'WORKRAIL_ENABLE_START_SESSION is "maybe", but must be 1 (agents get start_session) or 0 (the default).',
    ],
  ])('a server with %j does not start, and says why', async (env, said) => {
    expect(await serve({ WORKRAIL_DATA_DIR: folder, ...env })).toEqual({
      exitCode: 2,
      out: '',
      talk: `workrail: ${said} Nothing was started.\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a tilde in WORKRAIL_DATA_DIR is the home folder', async () => {
    const { out, exitCode } = await run(['session', 'verify'], { WORKRAIL_DATA_DIR: '~/.workrail-not-there' });
    expect([exitCode, out]).toEqual([0, `No sessions yet in ${join(homedir(), '.workrail-not-there')}.\n`]);
  });
});

describe.skipIf(process.platform === 'win32')('in a folder that was removed', () => {
  /** The shell removes its own folder, so that the program starts in one that is gone. */
  const started = (...args: string[]) => {
    const gone = mkdtempSync(join(folder, 'gone-'));
    const script = 'rmdir "$PWD" && exec "$@"';
    const argv = ['-c', script, 'sh', process.execPath, resolve('dist/workrail.js'), ...args];
    const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
    const env = { WORKRAIL_DATA_DIR: folder };
    const { status, stdout, stderr } = spawnSync('sh', argv, { cwd: gone, env, input, encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  it.each([[[]], [['serve']]])('a server serves without a workspace (arguments %j)', (args) => {
    const { status, stdout, stderr } = started(...args);
    expect([status, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('a command says that the folder is gone', () => {
    expect(started('status')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'workrail: This folder does not exist any more. Change to another one, and run the command again.\n',
    });
    expect(started('--version').status).toBe(0);
  });
});

type Ended = { readonly exitCode: number | null; readonly out: string; readonly talk: string };

function serve(env: Record<string, string>): Promise<Ended> {
  return run([], env);
}

/** Standard input stays open, so that only the program itself can end it. */
function run(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const child = spawn(process.execPath, ['dist/workrail.js', ...args], { env, cwd: process.cwd() });
  let [out, talk] = ['', ''];
  child.stdout.on('data', (data) => {
    out += String(data);
  });
  child.stderr.on('data', (data) => {
    talk += String(data);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, out, talk }));
  });
}
