import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS } from '../clients.ts';
import { atTerminal, CTRL_C, hasTerminal } from '../terminal.ts';
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

const codeIn = (text: string) => /Type ([A-Z]{4}) to /.exec(text)?.[1] ?? expect.fail('no code');

/** Everything but the right code at a terminal leaves things as they are. */
async function onlyByCode(command: readonly string[], now: () => Promise<string>): Promise<void> {
  const { env, work, run } = machine;
  const before = await now();
  const without = await run(command);
  expect([without.exitCode, without.talk]).toEqual([5, expect.stringContaining('in a terminal of your own')]);
  expect((await run([...command, '--yes'])).exitCode).toBe(2);
  const typing = (keys: (code: string) => string) =>
    atTerminal(command, { env, cwd: work, typed: [[/Type [A-Z]{4} to /, (text) => keys(codeIn(text))]] });
  const wrong = await typing((code) => `${code === 'AAAA' ? 'CCCC' : 'AAAA'}\r`);
  expect([wrong.code, wrong.text]).toEqual([5, expect.stringContaining('The code does not match.')]);
  expect((await typing(() => CTRL_C)).code).toBe(130);
  expect(await now()).toBe(before);
  expect((await typing((code) => `${code.toLowerCase()}\r`)).code).toBe(0);
}

it.runIf(hasTerminal)('a setting is loosened only by a code that a person types at a terminal', async () => {
  const { run } = machine;
  const mode = async () => (await run(['config', 'get', 'mode'])).out.trim();
  await onlyByCode(['config', 'set', 'mode', 'full_auto_never_stop'], mode);
  expect(await mode()).toBe('full_auto_never_stop');
});

it.runIf(hasTerminal)('a session gets a looser mode only by a code that a person types at a terminal', async () => {
  const { run, env, work } = machine;
  const client = await CLIENT_KINDS['client 2.x']?.({ env, cwd: work });
  const started = (await client?.call('start_workflow', START))?.structuredContent as {
    readonly session: { readonly sessionId: string };
  };
  await client?.close();
  const { sessionId } = started.session;
  const mode = async () => /mode +(.+)/.exec((await run(['session', 'show', sessionId])).out)?.[1] ?? '';
  await onlyByCode(['session', 'prefer', sessionId, 'full_auto_never_stop'], mode);
  expect(await mode()).toMatch(/^full_auto_never_stop \(set by a person\)/);
});
