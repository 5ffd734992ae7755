import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { CLIENTS, type TestClient, type ToolResult } from './clients.ts';
import { SMALL_PROGRAM } from './small-program.ts';

let dataDir: string;
let client: TestClient;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-upkeep-'));
  const connect = CLIENTS['client 2.x'] ?? expect.fail('there is such a client');
  client = await connect({ PATH: process.env['PATH'] ?? '', WORKRAIL_DATA_DIR: dataDir });
});

afterEach(async () => {
  await client.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const env = () => ({ ...process.env, WORKRAIL_DATA_DIR: dataDir });
const run = (...args: string[]) =>
  spawnSync(process.execPath, [SMALL_PROGRAM, ...args], { env: env(), encoding: 'utf8' });
const data = ({ structuredContent }: ToolResult) => structuredContent ?? {};
const codes = (reply: ToolResult) => (data(reply)['warnings'] as { code: string }[]).map(({ code }) => code);

async function begin(goal: string) {
  const started = data(await client.call('start_workflow', { workflowId: 'wr.first_steps', goal }));
  const { sessionId } = started['session'] as { readonly sessionId: string };
  return { sessionId, stateToken: started['stateToken'], ackToken: started['ackToken'] };
}

it('a closed run is offered to no agent, and an agent that continues it is informed', async () => {
  enforces('closed_runs_not_offered', 'closed_run_reopens');
  const { sessionId, stateToken, ackToken } = await begin('Mend the shop');
  expect(run('session', 'close', sessionId.slice(-6))).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Closed run/),
  });
  expect(data(await client.call('resume_session', { query: 'shop' }))).toMatchObject({ candidates: [] });
  expect(codes(await client.call('continue_workflow', { stateToken }))).toEqual(['run_closed']);
  const next = await client.call('continue_workflow', { ackToken, output: { notesMarkdown: 'Done.' } });
  expect([data(next)['kind'], codes(next)]).toEqual(['ok', ['run_closed']]);
  expect(data(await client.call('resume_session', {}))).toMatchObject({ session: { sessionId }, resumed: {} });

  // Only a person at a terminal may let an agent do more.
  expect(run('session', 'prefer', sessionId, 'full_auto_never_stop').status).toBe(5);
  expect(run('session', 'prefer', sessionId, '--risk', 'conservative').status).toBe(0);
  const shown = data(await client.call('continue_workflow', { stateToken: data(next)['stateToken'] }));
  expect(shown['preferences']).toMatchObject({ autonomy: 'guided' });
});

it('a deleted session disappears for a running server and is restored completely; gc --dry-run changes nothing', async () => {
  enforces('deleted_session_comes_back', 'cli_gc_dry_run', 'cli_exit_codes');
  const { sessionId, stateToken } = await begin('Mend the shop');
  const before = filesOf(join(dataDir, 'sessions', sessionId));
  expect(run('session', 'delete', sessionId)).toMatchObject({ status: 5, stdout: '' });
  expect(run('session', 'delete', sessionId, '--yes').status).toBe(0);
  expect(data(await client.call('continue_workflow', { stateToken }))).toMatchObject({
    kind: 'error',
    error: { code: 'TOKEN_UNKNOWN_NODE' },
  });
  expect(run('session', 'delete', '--undo', sessionId).status).toBe(0);
  // The empty file beside it tells gc when it came back.
  const { arrived, ...restored } = filesOf(join(dataDir, 'sessions', sessionId));
  expect(arrived).toBe('');
  expect(restored).toEqual(before);
  expect(run('session', 'verify').stdout).toContain('all healthy');
  expect(data(await client.call('continue_workflow', { stateToken }))).toMatchObject({ kind: 'ok' });

  const all = filesOf(dataDir);
  const dry = run('gc', '--dry-run', '--json');
  expect(JSON.parse(dry.stdout)).toMatchObject({ ok: true, data: { isDryRun: true, stayed: { recent: 1 } } });
  expect(filesOf(dataDir)).toEqual(all);
});

it('session delete in a terminal deletes only after a yes', async () => {
  enforces('cli_interaction_switches', 'cli_exit_codes');
  const { sessionId } = await begin('Mend the shop');
  const command = `stty cols 120 rows 40; ${process.execPath} ${SMALL_PROGRAM} session delete ${sessionId}`;
  expect(await inTerminal(command, '\r')).toMatchObject({
    code: 5,
    text: expect.stringContaining('Delete 1 session?'),
  });
  expect(await inTerminal(command, '\u0003')).toMatchObject({ code: 130 });
  expect(readdirSync(join(dataDir, 'sessions'))).toEqual([sessionId]);
  expect(await inTerminal(command, 'y')).toMatchObject({ code: 0, text: expect.stringContaining('to the bin') });
  expect(readdirSync(join(dataDir, 'sessions'))).not.toContain(sessionId);
});

/** Runs a command in a terminal of its own and types an answer once there is a question. */
function inTerminal(command: string, answer: string): Promise<{ readonly code: number | null; readonly text: string }> {
  return new Promise((resolve) => {
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env: env() });
    let text = '';
    child.stdout.on('data', (piece) => {
      const isAsked = text.includes('?');
      text += piece;
      if (!isAsked && text.includes('?')) setTimeout(() => child.stdin.write(answer), 100);
    });
    child.on('close', (code) => resolve({ code, text }));
  });
}

/** Every file with what is in it, but for the locks. */
function filesOf(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => !/(^|\/)\.lock/.test(name));
  const files = names.filter((name) => statSync(join(dir, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(dir, name), 'base64')]));
}
