import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needsRestart } from '../../../src/core/settings/applied-settings.ts';
import { SETTING_NAMES } from '../../../src/core/settings/setting-keys.ts';
import { COMMAND_REPLIES } from '../../../src/core/wire/command-shapes.ts';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS, type TestClient } from '../clients.ts';
import { SMALL_PROGRAM } from '../small-program.ts';
import { type OpenPage, openPage } from './console-fixture.ts';
import { type Asked, type Got, type RunningConsole, signedIn, startConsole } from './console-server.ts';

let folder: string;
let server: RunningConsole;
let plain: RunningConsole;
let open: OpenPage | undefined;
let page: Page;
let call: (asked: Asked) => Promise<Got>;

const place = () => ({
  env: { HOME: join(folder, 'home'), WORKRAIL_DATA_DIR: join(folder, 'data'), PATH: process.env['PATH'] ?? '' },
  cwd: join(folder, 'here'),
});
const config = () => join(folder, 'home', '.workrail', 'config.json');
const typed = (...words: readonly string[]) => {
  const { env, cwd } = place();
  return JSON.parse(execFileSync(process.execPath, [SMALL_PROGRAM, ...words, '--json'], { env, cwd, encoding: 'utf8' }))
    .data;
};
const got = async (path: string) => JSON.parse((await call({ path })).text);
const ready = (skip: (why: string) => never) => open ?? skip('no browser');
const go = async (name: string) => {
  await page.goto(`http://127.0.0.1:${server.port}/settings/${name}`);
  await page.waitForSelector('main h2');
};
const section = (name: string) => page.getByRole('region', { name, exact: true });
const confirm = async (name: string, command: string) => {
  const dialog = page.getByRole('dialog', { name });
  await dialog.getByText(command, { exact: true }).waitFor();
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
};
const connect = () => (CLIENT_KINDS['client 2.x'] ?? expect.fail())({ ...place(), isNewProcess: true });
const append = (agent: TestClient) => agent.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Try it' });

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-settings-')));
  for (const name of ['home/.gemini', 'home/.workrail', 'here/.workrail'])
    mkdirSync(join(folder, name), { recursive: true });
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  server = await startConsole(place());
  plain = await startConsole({ ...place(), isAtTerminal: false });
  call = await signedIn(plain);
  open = await openPage({ server });
  if (open !== undefined) ({ page } = open);
}, 60_000);
afterAll(async () => {
  await open?.close();
  await Promise.all([server.stop(), plain.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

it('two servers show what each applied once they have appended, and a restart ends the difference', async () => {
  enforces('console_desired_vs_applied', 'applied_config_hash', 'restart_required_closed');
  expect(SETTING_NAMES.filter(needsRestart)).toEqual(['dataDir', 'tokenFormat', 'log', 'startSession']);
  const seen = async () => COMMAND_REPLIES.servers.parse(await got('/api/servers'));
  const first = await connect();
  await first.listTools();
  expect((await seen()).servers).toEqual([]);
  expect(existsSync(join(folder, 'data', 'cache', 'servers'))).toBe(false);
  await append(first);
  await expect.poll(async () => (await seen()).servers.length).toBe(1);
  writeFileSync(config(), '{"startSession": true, "mode": "guided"}');
  const second = await connect();
  await append(second);
  await expect.poll(async () => (await seen()).servers.length).toBe(2);
  const { servers, desired } = await seen();
  expect(
    servers.map(({ needsRestart: isOld, changes, tools }) => [isOld, changes, tools.includes('start_session')]),
  ).toEqual([
    [false, [], true],
    [true, [{ key: 'startSession', applied: false, desired: true }], false],
  ]);
  expect(servers[0]?.appliedConfigHash).toBe(desired.hash);
  expect(servers[0]?.client?.name).toBe('workrail-test');
  // Doctor says the same of both, and nothing of it is a fault.
  const { findings } = COMMAND_REPLIES.doctor.parse(typed('doctor'));
  const said = findings
    .filter(({ text }) => text.startsWith('server started by'))
    .map(({ kind, text }) => [kind, text]);
  expect(said).toEqual([
    ['good', expect.stringContaining(servers[0]?.appliedConfigHash.slice(0, 19) ?? '-')],
    ['note', expect.stringContaining('startSession is false there and set to true')],
  ]);
  if (open !== undefined) {
    await go('server');
    await expect.poll(() => page.getByText('restart needed').count()).toBe(1);
    expect(await open.text()).toContain('Restart the agent client, or the chat that started this server.');
    // The page shows the hashes that doctor shows, and the one that a restart would apply.
    for (const { appliedConfigHash } of servers) expect(await open.text()).toContain(appliedConfigHash.slice(0, 19));
    expect(await open.text()).toContain(`applies ${desired.hash.slice(0, 19)}`);
    await open.expectStateAccessible('servers that need a restart');
  }
  await first.close();
  const third = await connect();
  await append(third);
  await expect.poll(async () => (await seen()).servers.map((one) => one.needsRestart)).toEqual([false, false]);
  if (open !== undefined) await expect.poll(() => page.getByText('restart needed').count()).toBe(0);
  await Promise.all([second.close(), third.close()]);
  await expect.poll(async () => (await seen()).servers).toEqual([]);
  expect(readdirSync(join(folder, 'data', 'cache', 'servers'))).toEqual([]);
  if (open !== undefined) await page.getByText('Not seen yet').waitFor();
}, 60_000);

it('a server over HTTP says the hash that doctor and the console would say', async () => {
  enforces('applied_config_hash');
  const { env, cwd } = place();
  const child = spawn(process.execPath, [SMALL_PROGRAM, 'serve', '--http', '0', '--json'], { env, cwd });
  const [line] = await new Promise<readonly string[]>((resolve) => {
    child.stdout.once('data', (part: Buffer) => resolve(part.toString().split('\n')));
  });
  const { url, tokenFile } = JSON.parse(line ?? '').data as { readonly url: string; readonly tokenFile: string };
  const about = url.replace(/mcp$/, 'about');
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` };
  expect((await fetch(about)).status).toBe(401);
  const { appliedConfigHash, transport } = (await (await fetch(about, { headers })).json()) as Record<string, string>;
  expect([appliedConfigHash, transport]).toEqual([(await got('/api/servers')).desired.hash, 'http']);
  child.kill();
});

it('a setting is changed by the command that is shown, says where it comes from, and is locked by a variable', async ({
  skip,
}) => {
  const { text } = ready(skip);
  await go('preferences');
  const own = section('gates.waitSeconds');
  await own.getByLabel('gates.waitSeconds for').selectOption('project');
  await own.getByLabel('gates.waitSeconds', { exact: true }).fill('10');
  await own.getByRole('button', { name: 'Change' }).click();
  await confirm('Change', 'workrail config set gates.waitSeconds 10 --project');
  await own.getByText('from ').waitFor();
  expect(JSON.parse(readFileSync(join(folder, 'here', '.workrail', 'config.json'), 'utf8'))).toEqual({
    'gates.waitSeconds': 10,
  });
  await go('server');
  const log = section('log');
  await log.getByLabel('log', { exact: true }).selectOption('on');
  await log.getByRole('button', { name: 'Change' }).click();
  await confirm('Change', 'workrail config set log 1');
  await log.getByText('from ').waitFor();
  await log.getByRole('button', { name: 'Remove' }).click();
  await confirm('Remove', 'workrail config set log --unset');
  await log.getByText('default', { exact: true }).waitFor();
  expect(await section('dataDir').textContent()).toContain('The variable WORKRAIL_DATA_DIR overrides every file');
  expect(await section('dataDir').getByRole('button', { name: 'Change' }).count()).toBe(0);
  expect(await text()).toContain('workrail config servers');
});

it('a setting that lets agents do more is refused in the page, with the command for a terminal', async ({ skip }) => {
  const { expectStateAccessible } = ready(skip);
  await go('preferences');
  const own = section('mode');
  await own.getByLabel('mode', { exact: true }).selectOption('full_auto_never_stop');
  await own.getByRole('button', { name: 'Change' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change' });
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.getByText('Only a person at a terminal can allow that').waitFor();
  await expectStateAccessible('a change that is refused');
  await dialog.getByText('Run this in a terminal of your own: workrail config set mode full_auto_never_stop').waitFor();
  expect(JSON.parse(readFileSync(config(), 'utf8'))).toMatchObject({ mode: 'guided' });
});

it('open runs have their mode, since when, and what is pending in the preferences', async ({ skip }) => {
  const { text } = ready(skip);
  await go('preferences');
  await page.getByRole('region', { name: 'Open runs' }).waitFor();
  expect(await text()).toMatch(/Open runs.*Try it ?guided/);
});

it('a source is added, shows the diff of its new commit before an update, and is removed', async ({ skip }) => {
  const { expectStateAccessible } = ready(skip);
  const repo = join(folder, 'flows.git');
  const flow = join(repo, 'workflows', 'team.flow.json');
  mkdirSync(join(repo, 'workflows'), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args]);
  const write = (prompt: string) =>
    writeFileSync(
      flow,
      JSON.stringify(
        {
          id: 'team.flow',
          name: 'Flow',
          description: 'Flows.',
          version: '1.0.0',
          steps: [{ id: 'a', title: 'A', prompt }],
        },
        null,
        2,
      ),
    );
  git('init', '--quiet');
  write('Do it once.');
  git('add', '.');
  git('commit', '--quiet', '-m', 'one');
  await go('sources');
  await page.getByText('No source was added.').waitFor();
  await page.getByLabel('Address of the source').fill(repo);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await confirm('Add', `workrail source add ${repo}`);
  const own = section('Source flows');
  await own.getByText('1 file', { exact: true }).waitFor();
  write('Do it twice.');
  git('commit', '--quiet', '-a', '-m', 'two');
  await own.getByRole('button', { name: 'Look for updates' }).click();
  await own.locator('ins', { hasText: 'Do it twice.' }).waitFor();
  await own.locator('del', { hasText: 'Do it once.' }).waitFor();
  await expectStateAccessible('a source with an update');
  expect(typed('workflow', 'show', 'team.flow', '--compiled').text).toContain('Do it once.');
  await own.getByRole('button', { name: 'Update', exact: true }).click();
  await confirm('Update', 'workrail source update flows');
  await expect.poll(() => typed('workflow', 'show', 'team.flow', '--compiled').text).toContain('Do it twice.');
  await own.getByRole('button', { name: 'Remove' }).click();
  await confirm('Remove', 'workrail source remove flows');
  await page.getByText('No source was added.').waitFor();
  // What the project asks for is shown, and only a terminal accepts it.
  typed('source', 'add', repo, '--project');
  await page.reload();
  const asked = section('Sources that this project asks for');
  await asked.getByText('not accepted, so not used').waitFor();
  await asked.getByText('workrail source accept').waitFor();
  expect((await page.getByText('No source was added.').count()) > 0).toBe(true);
}, 60_000);

it('a client is registered after its diff was shown, is rehearsed, and gets its file back by undoing', async ({
  skip,
}) => {
  ready(skip);
  const file = join(folder, 'home', '.gemini', 'settings.json');
  const before = '{\n  "theme": "dark"\n}\n';
  writeFileSync(file, before);
  await go('clients');
  const own = section('Gemini CLI');
  await own.locator('ins', { hasText: '"workrail"' }).waitFor();
  expect(readFileSync(file, 'utf8')).toBe(before);
  await own.getByRole('button', { name: 'Register' }).click();
  await confirm('Register', 'workrail init --client gemini --yes');
  await own.getByText('registered', { exact: true }).waitFor();
  expect(readFileSync(file, 'utf8')).toContain('mcpServers');
  await own.getByText('None since the console was opened.').waitFor();
  await own.getByRole('button', { name: 'Rehearse' }).click();
  await own.getByText(/works \(\d+ tools, one step forward and back/).waitFor();
  await own.getByRole('button', { name: 'Undo' }).click();
  await confirm('Undo', 'workrail init --undo --client gemini');
  await own.getByText('not registered').waitFor();
  expect(readFileSync(file, 'utf8')).toBe(before);
}, 60_000);

it('doctor shows its findings with what to do, and Fix fixes what can be fixed', async ({ skip }) => {
  const { expectStateAccessible } = ready(skip);
  execFileSync('chmod', ['755', join(folder, 'data')]);
  await go('doctor');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText(/can be read by other users of this machine/).waitFor();
  await expectStateAccessible('findings of doctor');
  await page.getByRole('button', { name: 'Fix' }).click();
  await confirm('Fix', 'workrail doctor --fix');
  await page.getByText(/1 fixed, 0 left/).waitFor();
  await expect.poll(() => page.getByText(/can be read by other users/).count()).toBe(0);
}, 60_000);

it('storage shows sizes and what old sessions would free, and the bin restores and is emptied', async ({ skip }) => {
  ready(skip);
  const [{ sessionId }] = typed('session', 'list').sessions;
  typed('session', 'delete', sessionId, '--yes');
  await go('storage');
  await page.getByText(/\d+ files, [\d.]+ [kM]B/).waitFor();
  const own = section('Bin');
  await own.getByRole('button', { name: 'Restore' }).click();
  await own.getByText('The bin is empty.').waitFor();
  expect(typed('session', 'list').sessions).toContainEqual(expect.objectContaining({ sessionId }));
  typed('session', 'delete', sessionId, '--yes');
  await go('storage');
  await own.getByRole('button', { name: 'Empty the bin' }).click();
  await confirm('Empty the bin', 'workrail gc --older-than 36500d --empty-bin --yes');
  await own.getByText('The bin is empty.').waitFor();
  await page.getByLabel('Keep sessions for').selectOption('30');
  await page.getByText('workrail gc --dry-run --older-than 30d').waitFor();
  await page.getByRole('button', { name: 'Remove older sessions' }).click();
  await confirm('Remove older sessions', 'workrail gc --older-than 30d');
  await page.getByText(/Removed 0 sessions/).waitFor();
}, 60_000);

it('storage checks every stored byte when asked, and says which session is damaged and where', async ({ skip }) => {
  const { expectStateAccessible } = ready(skip);
  const check = async () => {
    await go('storage');
    await section('Check every stored byte').getByRole('button', { name: 'Check every session' }).click();
    return (
      (await page
        .getByRole('status')
        .filter({ hasText: /sessions?, / })
        .textContent()) ?? ''
    );
  };
  expect(await check()).toMatch(/^\d+ sessions?, \d+ events, [\d.]+ kB: all healthy$/);
  const [{ sessionId }] = typed('session', 'list').sessions;
  const events = join(folder, 'data', 'sessions', sessionId, 'events');
  const file = join(events, readdirSync(events).sort()[0] ?? expect.fail('no events'));
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, whole.replace('Try it', 'Try if'));
  expect(await check()).toMatch(/: 1 damaged$/);
  await expectStateAccessible('storage with a damaged session');
  expect(await section('Check every stored byte').textContent()).toContain(sessionId);
  writeFileSync(file, whole);
}, 60_000);

it('keys are rotated with a warning about tokens, and About has the version and the data folder', async ({ skip }) => {
  const { text, press } = ready(skip);
  await go('keys');
  const before = typed('keys', 'status').keys.current;
  await page.getByText(before).waitFor();
  await page.getByRole('button', { name: 'Rotate' }).click();
  await confirm('Rotate', 'workrail keys rotate --yes');
  await expect.poll(() => typed('keys', 'status').keys.previous).toBe(before);
  await go('about');
  await expect.poll(text).toContain(join(folder, 'data'));
  await press('g ,');
  await page.waitForURL(/settings\/preferences/);
});

it('general settings change the look of the page, and a reload keeps them', async ({ skip }) => {
  ready(skip);
  await go('general');
  const own = section('General');
  const look = () => page.evaluate('({ ...document.documentElement.dataset })');
  await own.getByLabel('Theme').selectOption('dark');
  await own.getByLabel('Rows').selectOption('compact');
  await page.reload();
  expect(await look()).toMatchObject({ theme: 'dark', density: 'compact' });
  await own.getByLabel('Theme').selectOption('system');
  await own.getByLabel('Rows').selectOption('comfortable');
  expect(await look()).toMatchObject({ theme: 'system', density: 'comfortable' });
});

it('every page of the settings is accessible, and writes nothing to the console of the browser', async ({ skip }) => {
  const { expectAccessible, noise } = ready(skip);
  for (const name of ['general', 'preferences', 'server', 'sources', 'clients', 'doctor', 'storage', 'keys', 'about']) {
    await go(name);
    await expectAccessible(`settings, ${name}`);
  }
  expect(noise.filter((words) => !words.includes('409'))).toEqual([]);
}, 60_000);
