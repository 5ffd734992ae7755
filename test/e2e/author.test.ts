import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { CLIENTS } from './clients.ts';
import { runSmall, SMALL_PROGRAM } from './small-program.ts';

let folder: string;
const env = () => ({ PATH: process.env['PATH'] ?? '', HOME: folder, WORKRAIL_DATA_DIR: join(folder, 'data') });
const workrail = (...args: readonly string[]) => runSmall(args, { cwd: folder, env: env() });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-author-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('an author creates, tests and runs a new workflow, and sees what changed since', async () => {
  expect((await workrail('workflow', 'new', 'team.begun', '--template', 'loop')).exitCode).toBe(0);
  expect((await workrail('workflow', 'check', 'team.begun')).out).toContain('0 errors, 2 warnings');
  expect((await workrail('workflow', 'dry-run', 'team.begun')).out).toContain('✓ complete  4 steps, 4 calls, 0 blocks');
  expect((await workrail('workflow', 'test', 'team.begun', '--min-coverage', '100')).exitCode).toBe(0);

  const client = (await CLIENTS['client 2.x']?.(env())) ?? expect.fail('there is such a client');
  const started = await client.call('start_workflow', { workflowId: 'team.begun', workspacePath: folder });
  await client.close();
  const { session, pending } = started.structuredContent as { session: { sessionId: string }; pending: object };
  expect(pending).toMatchObject({ stepId: 'plan', position: { index: 1 } });

  const file = join(folder, '.workrail/workflows/team.begun.json');
  const workflow = JSON.parse(readFileSync(file, 'utf8'));
  const [{ prompt }] = workflow.steps;
  workflow.steps[0].prompt = 'Write down everything.';
  writeFileSync(file, JSON.stringify(workflow, null, 2));
  const { exitCode, out } = await workrail('workflow', 'diff', session.sessionId);
  const change = `~ step plan\n    prompt\n    - ${JSON.stringify(prompt.slice(0, 20)).slice(0, -1)}`;
  expect([exitCode, out]).toEqual([0, expect.stringContaining(change)]);
});

it('workflow check --watch reports after every change until it is interrupted', async () => {
  enforces('cli_exit_codes');
  await workrail('workflow', 'new', 'team.begun');
  const file = join(folder, '.workrail/workflows/team.begun.json');
  const watching = spawn(process.execPath, [SMALL_PROGRAM, 'workflow', 'check', 'team.begun', '--watch'], {
    cwd: folder,
    env: env(),
  });
  const ended = new Promise<number | null>((done) => watching.once('exit', done));
  let said = '';
  const waiting: { text: string; done: () => void }[] = [];
  watching.stderr.on('data', (data) => {
    said += String(data);
    for (const { text, done } of waiting) if (said.includes(text)) done();
  });
  const hears = (text: string) => new Promise<void>((done) => waiting.push({ text, done }));
  const watches = hears('Press Ctrl-C to stop.');
  const broken = hears('1 file checked: 1 error');
  await watches;
  expect(said).toContain('1 file checked: 0 errors, 2 warnings\n');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"title": ".+"/, '"title": ""'));
  await broken;
  watching.kill('SIGINT');
  expect(await ended).toBe(130);
});
