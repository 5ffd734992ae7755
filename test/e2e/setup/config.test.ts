import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS } from '../clients.ts';
import { type ThrowAway, throwAway } from './throw-away.ts';

let machine: ThrowAway;
beforeEach(() => {
  machine = throwAway();
});
afterEach(() => machine.remove());

const START = { workflowId: 'wr.first_steps' };

it('a server follows the settings for data folder, token format and mode', async () => {
  enforces('preferences_set_from_cli', 'cli_config_shows_origin');
  const { run, root, work, env } = machine;
  // Only a person at a terminal can loosen a setting, so the mode is in the file from the start.
  machine.put('.workrail/config.json', '{"mode": "full_auto_never_stop"}');
  for (const [key = '', value = '', ...more] of [
    ['dataDir', join(root, 'runs')],
    ['tokenFormat', 'v1'],
    ['mode', 'full_auto_stop_on_user_deps', '--project'],
  ]) {
    expect(await run(['config', 'set', key, value, ...more])).toMatchObject({ exitCode: 0 });
  }
  const client = await CLIENT_KINDS['client 2.x']?.({ env, cwd: work });
  const started = async (args: object) =>
    (await client?.call('start_workflow', { ...START, ...args }))?.structuredContent;
  expect(await started({})).toMatchObject({
    stateToken: expect.stringMatching(/^st\.v1\./),
    preferences: { autonomy: 'full_auto_stop_on_user_deps', setBy: 'policy' },
  });
  const elsewhere = join(root, 'elsewhere');
  mkdirSync(elsewhere);
  expect(await started({ workspacePath: elsewhere })).toMatchObject({
    preferences: { autonomy: 'full_auto_never_stop', setBy: 'settings' },
  });

  // The server runs on; what a repository says wrongly is told when it would count, and only then.
  writeFileSync(join(work, '.workrail', 'config.json'), '{\n  "mode": "auto"\n}\n');
  const refused = await client?.call('start_workflow', START);
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'VALIDATION_ERROR' } } });
  expect(JSON.stringify(refused?.structuredContent)).toContain('config.json, line 2: mode is');
  expect(await started({ mode: 'guided' })).toMatchObject({ kind: 'ok' });
  await client?.close();

  expect(readdirSync(join(root, 'runs', 'sessions'))).toHaveLength(3);
  const list = await run(['session', 'verify'], { env: { WORKRAIL_DATA_DIR: join(root, 'none') } });
  expect(list).toMatchObject({ exitCode: 2, talk: expect.stringContaining('config.json, line 2') });
});

it('an invalid settings file is reported with its line by the server and by commands, and nothing starts', async () => {
  machine.put('.workrail/config.json', '{\n  "log": true\n  "mode": "guided"\n}\n');
  const place = join(machine.home, '.workrail', 'config.json');
  for (const typed of [['serve'], ['serve', '--http', '0']]) {
    expect(await machine.run(typed)).toEqual({
      exitCode: 2,
      out: '',
      talk: `workrail: ${place}, line 3: not valid JSON (comma expected). Nothing was started.\n`,
    });
  }
  expect(await machine.run(['session', 'verify'])).toMatchObject({
    exitCode: 2,
    out: '',
    talk: expect.stringContaining('line 3'),
  });
  expect(await machine.run(['doctor', '--quiet'])).toMatchObject({
    exitCode: 4,
    out: expect.stringContaining(`✗ ${place}, line 3`),
  });
});
