import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS, type TestClient, type ToolResult } from '../clients.ts';
import { data } from '../gated-run.ts';
import { runSmall } from '../small-program.ts';

const approve = {
  id: 'approve',
  title: 'Approve',
  prompt: 'Ask.',
  requireConfirmation: { kind: 'human_approval' },
  assurance: 'stated',
};
const base = { against: 'base', tests: ['*.test'], report: 'tap' };
const checked = {
  id: 'check',
  title: 'Check',
  prompt: 'Check.',
  checks: [
    { id: 'here', run: 'test -f here.txt && pwd', minimum: 'observed' },
    { id: 'fixed', run: 'sh a.test', minimum: 'observed', ...base },
  ],
};
const workflow = (id: string, ...steps: readonly object[]) =>
  JSON.stringify({ id, name: id, description: 'Does it.', version: '1.0.0', steps });

/** Passes once `value` has the right content, which it finds in the folder that it runs in. */
const TEST = 'echo 1..1; if grep -q right value; then echo "ok 1 - value"; else echo "not ok 1 - value"; exit 1; fi\n';
const STRICT = JSON.stringify({ 'autonomy.max': 'guided', 'gates.minimum': 'confirmed' });

let folder: string;
let home: string;
let repo: string;
let env: { readonly [name: string]: string };
let client: TestClient;

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
const git = (at: string, ...args: readonly string[]) =>
  execFileSync('git', [
    '-C',
    at,
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@b.c',
    '-c',
    'init.defaultBranch=main',
    ...args,
  ]);
const commit = (at: string) => {
  git(at, 'init', '-q');
  git(at, 'add', '--all');
  git(at, 'commit', '-qm', 'All');
};

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-subfolder-')));
  [home, repo] = [join(folder, 'home'), join(folder, 'repo')];
  put(join(home, '.workrail', 'workflows', 'my.gate.json'), workflow('my.gate', approve, checked));
  put(join(home, '.workrail', 'workflows', 'my.check.json'), workflow('my.check', checked));
  put(join(repo, 'top.txt'), 'top\n');
  put(join(repo, 'pkg', 'here.txt'), 'here\n');
  put(join(repo, 'pkg', 'value'), 'wrong\n');
  env = { WORKRAIL_DATA_DIR: join(folder, 'data'), HOME: home, PATH: process.env['PATH'] ?? '' };
  const [connect] = Object.values(CLIENT_KINDS);
  client = await (connect as NonNullable<typeof connect>)({ env: { ...env }, cwd: folder });
});
afterEach(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = (workflowId: string, workspacePath: string, more: object = {}) =>
  client.call('start_workflow', { workflowId, workspacePath, ...more });
const neverStop = { mode: 'full_auto_never_stop' };
const next = (from: ToolResult, more: object = {}) =>
  client.call('continue_workflow', { ackToken: data(from).ackToken, output: { notesMarkdown: 'Done.' }, ...more });
const modeOf = ({ structuredContent = {} }: ToolResult) =>
  (structuredContent['preferences'] as { readonly autonomy: string }).autonomy;
const tagOf = ({ structuredContent = {} }: ToolResult) => (structuredContent['run'] as { readonly tag: string }).tag;
const stateOf = ({ structuredContent = {} }: ToolResult) => String(structuredContent['stateToken']);

/** Whether a run holds at its gate in the mode that the settings allow, also after a looser one was asked for. */
async function expectHeld(started: ToolResult): Promise<void> {
  const again = await next(started, neverStop);
  expect([data(again).kind, modeOf(again)]).toEqual(['blocked', 'guided']);
}

it('the settings of a project in a subfolder of a repository count in every call', async () => {
  enforces('settings_up_to_the_top');
  put(join(repo, 'pkg', '.workrail', 'config.json'), STRICT);
  commit(repo);
  const started = await start('my.gate', join(repo, 'pkg'), neverStop);
  expect(modeOf(started)).toBe('guided');
  await expectHeld(started);
  // Another folder of the same repository has other settings.
  const beside = await start('my.gate', repo, neverStop);
  expect(data(await next(beside)).kind).toBe('ok');
});

it('the settings at the top of a repository count for a run in a subfolder', async () => {
  enforces('settings_up_to_the_top');
  put(join(repo, '.workrail', 'config.json'), STRICT);
  commit(repo);
  const started = await start('my.gate', join(repo, 'pkg'), neverStop);
  expect(modeOf(started)).toBe('guided');
  await expectHeld(started);
  // A person is held to them too, wherever the command is typed.
  const { exitCode, talk, out } = await runSmall(['session', 'prefer', tagOf(started), 'full_auto_never_stop'], {
    cwd: folder,
    env,
  });
  expect([exitCode, out + talk]).toEqual([0, expect.stringContaining('allows at most guided')]);
});

it('a run that joins a session is held to the settings of its own folder and to those of the session', async () => {
  enforces('settings_up_to_the_top');
  const lax = join(folder, 'lax');
  put(join(lax, 'a.txt'), 'a\n');
  put(join(repo, 'pkg', '.workrail', 'config.json'), STRICT);
  commit(lax);
  commit(repo);
  const [inLax, inStrict] = [await start('my.gate', lax), await start('my.gate', join(repo, 'pkg'))];
  const joined = await start('my.gate', join(repo, 'pkg'), { attachTo: stateOf(inLax), ...neverStop });
  expect(modeOf(joined)).toBe('guided');
  await expectHeld(joined);
  const brought = await start('my.gate', lax, { attachTo: stateOf(inStrict), ...neverStop });
  expect(modeOf(brought)).toBe('guided');
  await expectHeld(brought);
});

it('checks run in the folder that the run was started in, on the base too', async () => {
  enforces('checks_in_start_folder');
  put(join(repo, 'node_modules', 'installed'), 'x\n');
  put(join(repo, '.gitignore'), 'node_modules\n');
  commit(repo);
  const tag = tagOf(await start('my.check', join(repo, 'pkg')));
  const here = await runSmall(['attest', tag, 'here'], { cwd: folder, env });
  expect([here.exitCode, here.talk]).toEqual([0, expect.stringContaining(`${join(repo, 'pkg')}\n`)]);
  put(join(repo, 'pkg', 'value'), 'right\n');
  put(join(repo, 'pkg', 'a.test'), TEST);
  const fixed = await runSmall(['attest', tag, 'fixed', '--json'], { cwd: folder, env });
  expect(fixed.exitCode).toBe(0);
  expect(JSON.parse(fixed.out)).toMatchObject({ data: { grade: 'observed', base: { exitCode: 1, fixed: 1 } } });
});

it('what ran in a subfolder is never said to be about exactly the files of a commit', async () => {
  enforces('check_in_subfolder_no_subject');
  commit(repo);
  const started = await start('my.check', join(repo, 'pkg'));
  await runSmall(['attest', tagOf(started), 'here'], { cwd: folder, env });
  await next(started, neverStop);
  const [passport, key] = [join(folder, 'run.passport.json'), join(folder, 'key.pem')];
  const { sessionId } = (started.structuredContent as { session: { sessionId: string } }).session;
  const made = await runSmall(['export', sessionId, '--as', 'passport', '-o', passport], { cwd: repo, env });
  expect(made.out).toContain('1 check ran in a folder below the top of the repository');
  writeFileSync(key, (await runSmall(['keys', 'public'], { cwd: folder, env })).out);
  const verified = await runSmall(['verify', passport, '--key', key], { cwd: folder, env });
  expect(verified.out).toMatch(/check here .*, only for the folder pkg/);
});

it('a project below a home folder that is a repository keeps its own folder', async () => {
  enforces('checks_in_start_folder');
  const project = join(home, 'work', 'project');
  put(join(project, 'here.txt'), 'here\n');
  // Only the user's own file may set this, and in a repository around the home folder it still is the user's.
  put(join(home, '.workrail', 'config.json'), '{"log": false}');
  commit(home);
  const tag = tagOf(await start('my.check', project));
  const { exitCode, talk } = await runSmall(['attest', tag, 'here'], { cwd: folder, env });
  expect([exitCode, talk]).toEqual([0, expect.stringContaining(`${project}\n`)]);
});
