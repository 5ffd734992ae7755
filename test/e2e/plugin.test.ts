import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../src/adapters/clients/start-server.ts';
import { SMALL_PROGRAM } from './small-program.ts';

let place: string;
const at = (...names: string[]) => join(place, ...names);
const env = () => ({ PATH: `${at('bin')}:${process.env['PATH']}`, HOME: at('home'), WORKRAIL_DATA_DIR: at('data') });

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'workrail-plugin-'));
  for (const folder of ['bin', 'odd', 'home', 'project', 'elsewhere']) mkdirSync(at(folder));
  writeFileSync(at('bin', 'workrail'), `#!/bin/sh\nexec "${process.execPath}" "${SMALL_PROGRAM}" "$@"\n`, {
    mode: 0o755,
  });
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

function hook(name: string, event: object, variables: NodeJS.ProcessEnv = env()): string {
  const file = resolve('integrations/claude-code/hooks', name);
  const ran = spawnSync(process.execPath, [file], { env: variables, input: JSON.stringify(event), encoding: 'utf8' });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  return ran.stdout;
}

describe('the plugin for Claude Code', () => {
  it('the hooks print nothing if no run is open or workrail is not installed', () => {
    for (const name of ['resume-run.mjs', 'hold-stop.mjs']) {
      expect(hook(name, { cwd: at('project') })).toBe('');
      expect(hook(name, { cwd: at('project') }, { PATH: '/nowhere' })).toBe('');
    }
  });

  it('the hooks never fail, whatever their input', () => {
    for (const said of [
      'not json',
      '',
      'null',
      '{"ok":true}',
      '{"ok":true,"data":{"here":{"runs":[null,{"run":{}}]}}}',
    ]) {
      writeFileSync(at('odd', 'workrail'), `#!/bin/sh\ncat <<'EOF'\n${said}\nEOF\n`, { mode: 0o755 });
      const variables = { ...env(), PATH: `${at('odd')}:${process.env['PATH']}` };
      for (const name of ['resume-run.mjs', 'hold-stop.mjs']) expect(hook(name, { cwd: 7 }, variables)).toBe('');
    }
  });

  it('the hooks show the current step after a compaction, and hold a stop once while a run is open', async () => {
    const server = await startServer({ command: process.execPath, args: [SMALL_PROGRAM, 'serve'], env: env() });
    const started = await server.call('start_workflow', {
      workflowId: 'wr.first_steps',
      goal: 'See it come back',
      workspacePath: at('project'),
    });
    await server.stop();
    const { run } = started.data as { run: { tag: string } };

    expect(hook('resume-run.mjs', { cwd: at('project') })).toContain('resume_session');
    const held = JSON.parse(hook('hold-stop.mjs', { cwd: at('project') })) as { decision: string; reason: string };
    expect(held).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining(`${run.tag} is open at "Look around"`),
    });
    expect(hook('hold-stop.mjs', { cwd: at('project'), stop_hook_active: true })).toBe('');
    expect(hook('hold-stop.mjs', { cwd: at('elsewhere') })).toBe('');
  });

  it('the hooks name the command for each check of the current step', async () => {
    const folder = at('checked');
    mkdirSync(join(folder, '.workrail', 'workflows'), { recursive: true });
    const checks = [{ id: 'unit', run: 'true', minimum: 'observed' }];
    const steps = [{ id: 'do', title: 'Do it', prompt: 'Do it.', checks }];
    const file = { id: 'project.checked', name: 'Checked', description: 'Is checked.', version: '1.0.0', steps };
    writeFileSync(join(folder, '.workrail', 'workflows', 'project.checked.json'), JSON.stringify(file));
    const server = await startServer({ command: process.execPath, args: [SMALL_PROGRAM, 'serve'], env: env() });
    const started = await server.call('start_workflow', {
      workflowId: 'project.checked',
      goal: 'Check it',
      workspacePath: folder,
    });
    await server.stop();
    const { run } = started.data as { run: { tag: string } };
    for (const name of ['resume-run.mjs', 'hold-stop.mjs']) {
      expect(hook(name, { cwd: folder })).toContain(`run and recorded with \`workrail attest ${run.tag} unit\``);
    }
  });
});
