import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';

const MEMORY_MIB_MAX = 75;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-lifecycle-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HELLO = message(0, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'by hand', version: '0' },
});
const LIST = message(1, 'tools/list', {});

function message(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

function call(id: number, name: string, args: object): string {
  return message(id, 'tools/call', { name, arguments: args });
}

type Said = { out: string; talk: string };

function serve(env: Record<string, string> = {}): { child: ChildProcessWithoutNullStreams; said: Said } {
  const dataDir = join(folder, 'data');
  const child = spawn(process.execPath, ['dist/workrail.js', 'serve'], { env: { WORKRAIL_DATA_DIR: dataDir, ...env } });
  const said = { out: '', talk: '' };
  child.stdout.on('data', (part: Buffer) => {
    said.out += part.toString();
  });
  child.stderr.on('data', (part: Buffer) => {
    said.talk += part.toString();
  });
  return { child, said };
}

function documents(text: string): readonly { readonly id?: number; readonly event?: string }[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('a server on standard input and output', () => {
  it('a stdio server answers every call before its input ended, then stops', async () => {
    const { child, said } = serve();
    const asked = Array.from({ length: 20 }, (_, i) =>
      call(10 + i, 'start_workflow', { workflowId: 'wr.first_steps' }),
    );
    child.stdin.end(HELLO + LIST + asked.join(''));
    const [exitCode] = await once(child, 'close');
    const ids = documents(said.out).map(({ id }) => id ?? -1);
    expect(ids.sort((a, b) => a - b)).toEqual([0, 1, ...asked.map((_, i) => 10 + i)]);
    expect([exitCode, said.talk]).toEqual([0, '']);
  });

  it.each<readonly [NodeJS.Signals, number]>([
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ])('a stdio server finishes running calls on %s and exits with code %i', async (signal, exitCode) => {
    enforces('cli_exit_codes');
    const { child, said } = serve();
    child.stdin.write(HELLO);
    await once(child.stdout, 'data');
    child.stdin.write(call(1, 'start_workflow', { workflowId: 'wr.first_steps' }) + message(2, 'ping', {}));
    while (!said.out.includes('"id":2')) await once(child.stdout, 'data');
    child.kill(signal);
    const [ended] = await once(child, 'close');
    expect(ended).toBe(exitCode);
    expect(documents(said.out).map(({ id }) => id)).toContain(1);
  });

  it('a stdio server writes nothing and takes no lock before the first call', async () => {
    enforces('startup_has_no_side_effects');
    const { child, said } = serve();
    child.stdin.end(HELLO + LIST + message(2, 'prompts/list', {}));
    await once(child, 'close');
    expect(documents(said.out)).toHaveLength(3);
    expect(said.talk).toBe('');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a stdio server logs to standard error if asked, and never to standard output', async () => {
    const { child, said } = serve({ WORKRAIL_LOG: '1' });
    const token = 'secret notes of an agent';
    child.stdin.end(
      HELLO +
        call(1, 'start_workflow', { workflowId: 'wr.first_steps', goal: token }) +
        call(2, 'continue_workflow', { notes: token }),
    );
    await once(child, 'close');
    expect(documents(said.out).map(({ id }) => id)).toEqual(expect.arrayContaining([0, 1, 2]));
    const log = documents(said.talk);
    expect(log.map(({ event }) => event)).toEqual(['serving', 'call', 'call']);
    expect(log).toContainEqual(
      expect.objectContaining({ tool: 'continue_workflow', outcome: 'error', code: 'VALIDATION_ERROR' }),
    );
    expect(said.talk).not.toContain(token);
  });

  it('a stdio server uses little memory', async () => {
    enforces('budget_memory');
    const { child } = serve();
    child.stdin.write(HELLO + LIST);
    await once(child.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, 500));
    // POSIX: in kibibytes, on every system that WorkRail supports.
    const resident = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' }));
    child.stdin.end();
    expect(resident / 1_024).toBeGreaterThan(1);
    expect(resident / 1_024).toBeLessThanOrEqual(MEMORY_MIB_MAX);
  });
});
