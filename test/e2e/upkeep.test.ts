import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { CLIENTS, type TestClient, type ToolResult } from './clients.ts';
import { runSmall } from './small-program.ts';
import { atTerminal, CTRL_C, hasTerminal } from './terminal.ts';

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

const env = () => ({ PATH: process.env['PATH'] ?? '', HOME: homedir(), WORKRAIL_DATA_DIR: dataDir });
const run = (...args: string[]) => runSmall(args, { env: env() });
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
  expect(await run('session', 'close', sessionId.slice(-6))).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^Closed run/),
  });
  expect(data(await client.call('resume_session', { query: 'shop' }))).toMatchObject({ candidates: [] });
  expect(codes(await client.call('continue_workflow', { stateToken }))).toEqual(['run_closed']);
  const next = await client.call('continue_workflow', { ackToken, output: { notesMarkdown: 'Done.' } });
  expect([data(next)['kind'], codes(next)]).toEqual(['ok', ['run_closed']]);
  expect(data(await client.call('resume_session', {}))).toMatchObject({ session: { sessionId }, resumed: {} });

  // Only a person at a terminal may let an agent do more.
  expect((await run('session', 'prefer', sessionId, 'full_auto_never_stop')).exitCode).toBe(5);
  expect((await run('session', 'prefer', sessionId, '--risk', 'conservative')).exitCode).toBe(0);
  const shown = data(await client.call('continue_workflow', { stateToken: data(next)['stateToken'] }));
  expect(shown['preferences']).toMatchObject({ autonomy: 'guided' });
});

it('a deleted session disappears for a running server and is restored completely; gc --dry-run changes nothing', async () => {
  enforces('deleted_session_comes_back', 'cli_gc_dry_run', 'cli_exit_codes');
  const { sessionId, stateToken } = await begin('Mend the shop');
  const before = filesOf(join(dataDir, 'sessions', sessionId));
  expect(await run('session', 'delete', sessionId)).toMatchObject({ exitCode: 5, out: '' });
  expect((await run('session', 'delete', sessionId, '--yes')).exitCode).toBe(0);
  expect(data(await client.call('continue_workflow', { stateToken }))).toMatchObject({
    kind: 'error',
    error: { code: 'TOKEN_UNKNOWN_NODE' },
  });
  expect((await run('session', 'delete', '--undo', sessionId)).exitCode).toBe(0);
  // The empty file beside it tells gc when it came back.
  const { arrived, ...restored } = filesOf(join(dataDir, 'sessions', sessionId));
  expect(arrived).toBe('');
  expect(restored).toEqual(before);
  expect((await run('session', 'verify')).out).toContain('all healthy');
  expect(data(await client.call('continue_workflow', { stateToken }))).toMatchObject({ kind: 'ok' });

  const all = filesOf(dataDir);
  const dry = await run('gc', '--dry-run', '--json');
  expect(JSON.parse(dry.out)).toMatchObject({ ok: true, data: { isDryRun: true, stayed: { recent: 1 } } });
  expect(filesOf(dataDir)).toEqual(all);
});

it.runIf(hasTerminal)('session delete in a terminal deletes only after a yes', async () => {
  enforces('cli_interaction_switches', 'cli_exit_codes');
  const { sessionId } = await begin('Mend the shop');
  const inTerminal = (keys: string) =>
    atTerminal(['session', 'delete', sessionId], { env: env(), typed: [[/Delete 1 session\?/, keys]] });
  expect(await inTerminal('\r')).toMatchObject({
    code: 5,
    text: expect.stringContaining('Delete 1 session?'),
  });
  expect(await inTerminal(CTRL_C)).toMatchObject({ code: 130 });
  expect(readdirSync(join(dataDir, 'sessions'))).toEqual([sessionId]);
  expect(await inTerminal('y')).toMatchObject({ code: 0, text: expect.stringContaining('to the bin') });
  expect(readdirSync(join(dataDir, 'sessions'))).not.toContain(sessionId);
});

/** Every file with what is in it, but for the locks, and for what a server keeps when it has time: compiled code, and a record of itself. */
function filesOf(dir: string): Record<string, string> {
  const passing = /(^|\/)\.lock|^cache\/(?:code|servers)\//;
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => !passing.test(name));
  const files = names.filter((name) => statSync(join(dir, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(dir, name), 'base64')]));
}
