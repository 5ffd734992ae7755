import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedServer, startServer } from '../../src/adapters/clients/start-server.ts';
import { enforces } from '../enforces.ts';
import { atTerminal, hasTerminal } from './terminal.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const TARBALL = `workrail-${version}.tgz`;

let place: string;
const at = (...names: string[]) => join(place, ...names);

/** A path as people have them: with spaces and letters beyond ASCII. Installed as the README says, from the tarball. */
beforeAll(() => {
  place = join(mkdtempSync(join(tmpdir(), 'workrail-packed-')), 'Müllers Dateien');
  for (const folder of ['user', 'empty']) mkdirSync(at(folder), { recursive: true });
  execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/package.ts'], { stdio: 'pipe' });
  cpSync('release', at('release'), { recursive: true });
  // Without the optional part, as on a platform for which there is none; what is left needs nothing from elsewhere.
  const options = [
    '--offline',
    '--cache',
    at('cache'),
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    '--prefix',
    at('user'),
  ];
  const installing = spawnSync('npm', ['install', '-g', ...options, at('release', TARBALL)], { cwd: at('empty') });
  expect([installing.status, installing.stderr.toString()]).toEqual([
    0,
    expect.not.stringContaining('install-scripts'),
  ]);
});

afterAll(() => rmSync(join(place, '..'), { recursive: true, force: true }));

type Step = { readonly run: { readonly tag: string }; readonly ackToken: string; readonly isComplete: boolean };

const modules = () => at('user', 'lib', 'node_modules');
const root = () => join(modules(), 'workrail');

/** Somebody's machine: a home of their own, and nothing on the PATH but Node, git and the installed command. */
function person(name: string) {
  const own = mkdtempSync(at(`${name}-`));
  const [home, bin, cwd] = ['home', 'bin', 'work'].map((folder) => join(own, folder)) as [string, string, string];
  for (const folder of [home, bin, cwd]) mkdirSync(folder);
  symlinkSync(process.execPath, join(bin, 'node'));
  const env = { PATH: `${at('user', 'bin')}:${bin}:/usr/bin:/bin`, HOME: home, TERM: 'dumb' };
  return {
    home,
    cwd,
    env,
    workrail: (...args: string[]) => execFileSync('workrail', args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }),
    /** Starts what a client's file says, as the client would. */
    client: (file: string) => {
      const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as {
        mcpServers: { workrail: { command: string; args: string[]; env: Record<string, string> } };
      };
      const { command, args, env: more } = mcpServers.workrail;
      return startServer({ command, args, env: { ...env, ...more }, cwd });
    },
  };
}

describe('the packed package', () => {
  it('the packed package works in an empty folder for an agent and for a user', async () => {
    enforces('budget_package_size', 'first_try_without_a_clone');
    expect(readdirSync(modules()).filter((name) => !name.startsWith('.'))).toEqual(['workrail']);
    const ada = person('ada');
    mkdirSync(join(ada.home, '.claude'));
    expect(ada.workrail('--version')).toBe(`${version}\n`);
    expect(ada.workrail('demo', '--speed', 'max')).toContain('10 MCP calls to a real server');
    expect(ada.workrail('init', '--yes')).toContain('Claude Code  registered');
    expect(ada.workrail('doctor')).toContain('Claude Code: works');
    const server = await ada.client(join(ada.home, '.claude.json'));
    const { run } = await walkTwoSteps(server);
    await server.stop();

    expect(ada.workrail('session', 'tree', run.tag)).toContain('wr.first_steps  "packed"   running');
    ada.workrail('export', run.tag, '-o', at('session.json'));
    const bob = person('bob');
    expect(bob.workrail('import', at('session.json'))).toContain('Imported');
    expect(JSON.parse(bob.workrail('status', '--json'))).toMatchObject({ ok: true });
  }, 240_000);

  it('a workflow that is copied from the installed package brings its scenarios, and they pass', () => {
    const carl = person('carl');
    const copied = carl.workrail('workflow', 'copy', 'wr.first_steps', 'project.mine');
    expect(copied).toContain('with its test scenarios: .workrail/workflows/project.mine.test.json');
    expect(carl.workrail('workflow', 'check', 'project.mine', '--strict')).toContain('0 errors, 0 warnings');
    expect(carl.workrail('workflow', 'test')).toMatch(/project\.mine[\s\S]*passed/);
  }, 240_000);

  it('the packed package contains its scenarios and no source, and stays small', () => {
    enforces('budget_package_size');
    expect(readFileSync(at('release', TARBALL)).length).toBeLessThanOrEqual(3_000_000);
    const files = readdirSync(root(), { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const bytes = files.reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
    expect(bytes).toBeLessThanOrEqual(15_000_000);
    expect(files.map(({ name }) => name).filter((name) => /\.ts$/.test(name))).toEqual([]);
    expect(files.map(({ name }) => name)).toContain('wr.coding_task.test.json');
    expect(readdirSync(root()).sort()).toEqual([
      'ARCHITECTURE.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist',
      'docs',
      'examples',
      'integrations',
      'package.json',
      'schemas',
      'workflows',
    ]);
  });
});

describe.runIf(hasTerminal)('a team', () => {
  it('a committed registration and committed sources work in a second home without editing', async () => {
    enforces('init_project_can_be_committed', 'project_sources_need_a_person');
    const [lead, member] = [person('lead'), person('member')];
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd, stdio: 'pipe' });
    const flows = mkdtempSync(at('flows-'));
    mkdirSync(join(flows, 'workflows'));
    const workflow = readFileSync('workflows/wr.first_steps.json', 'utf8').replace('wr.first_steps', 'team.hello');
    writeFileSync(join(flows, 'workflows', 'team.hello.json'), workflow);
    for (const folder of [flows, lead.cwd]) git(folder, 'init', '--quiet', '--initial-branch=main');
    git(flows, 'add', '--all');
    git(flows, 'commit', '--quiet', '-m', 'The workflow of the team');

    expect(lead.workrail('init', '--project', '--client', 'claude-code')).toContain('Your team can commit this');
    lead.workrail('source', 'add', `file://${flows}`, '--name', 'team', '--project');
    git(lead.cwd, 'add', '--all');
    git(lead.cwd, 'commit', '--quiet', '-m', 'WorkRail for everyone');
    git(member.cwd, 'clone', '--quiet', lead.cwd, '.');
    git(member.cwd, 'config', 'user.name', 'Grace Hopper');
    git(member.cwd, 'config', 'user.email', 'grace@example.org');

    expect(member.workrail('doctor')).toContain('Claude Code in this project: works');
    const server = await member.client(join(member.cwd, '.mcp.json'));
    type Listed = { workflows: { id: string }[] };
    const listed = async () => (await server.call('list_workflows', {})).data as Listed;
    const ids = async () => (await listed()).workflows.map(({ id }) => id);
    expect(await ids()).not.toContain('team.hello');
    expect(JSON.stringify(await listed())).toContain('workrail source accept');
    // An agent that types the command fetches and accepts nothing.
    expect(() => member.workrail('source', 'accept')).toThrow(/needs a person|Only a person at a terminal/);
    expect(existsSync(join(member.home, '.workrail', 'project-sources'))).toBe(false);
    const accepted = await atTerminal(['source', 'accept'], {
      ...member,
      program: join(root(), 'dist', 'workrail.js'),
      typed: [[/Type \S+ to /, (seen) => `${/Type (\S+) to /.exec(seen)?.[1]}\r`]],
    });
    expect(accepted).toMatchObject({ code: 0, text: expect.stringContaining('team/team.hello.json') });
    expect(await ids()).toContain('team.hello');
    const started = await server.call('start_workflow', { workflowId: 'team.hello', goal: 'Try it' });
    expect(started.data).toMatchObject({ kind: 'ok', pending: { stepId: 'look' } });
    await server.stop();

    // A newer commit is shown before anybody is asked to accept it.
    const pinned = readFileSync(join(lead.cwd, '.workrail', 'sources.json'), 'utf8');
    writeFileSync(join(flows, 'workflows', 'team.hello.json'), workflow.replace('"First steps"', '"First days"'));
    git(flows, 'commit', '--quiet', '--all', '-m', 'Another name');
    expect(lead.workrail('source', 'update', '--project', '--dry-run')).toMatch(
      /-.*"First steps"[\s\S]*\+.*"First days"/,
    );
    expect(readFileSync(join(lead.cwd, '.workrail', 'sources.json'), 'utf8')).toBe(pinned);

    // Whose git settings it was is shown here, and leaves the machine only if somebody asks for it.
    enforces('session_author');
    const { tag } = (started.data as Step).run;
    expect(member.workrail('session', 'show', tag)).toContain('git: Grace Hopper');
    expect(member.workrail('session', 'list', 'author:grace')).toContain('Try it');
    expect(member.workrail('export', tag, '--as', 'md', '--no-redact')).toContain('git: Grace Hopper');
    const payload = () => {
      const { payload: text } = JSON.parse(readFileSync(join(member.cwd, 'passport.json'), 'utf8')) as {
        payload: string;
      };
      return Buffer.from(text, 'base64').toString();
    };
    writeFileSync(join(member.cwd, 'key.pem'), member.workrail('keys', 'public'));
    for (const asked of [[], ['--author']]) {
      member.workrail('export', tag, '--as', 'passport', '-o', 'passport.json', '--force', ...asked);
      expect(member.workrail('verify', 'passport.json', '--key', 'key.pem')).toContain('✓');
      expect(payload().includes('Grace')).toBe(asked.length > 0);
    }
  }, 240_000);
});

describe('the bundle for a click', () => {
  it('the desktop bundle starts from any folder by its manifest', async () => {
    expect(readdirSync(at('release')).sort()).toEqual(['SHA256SUMS', `workrail-${version}.mcpb`, TARBALL]);
    const sums = readFileSync(at('release', 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    expect(sums).toHaveLength(2);
    for (const line of sums) {
      const [digest, name = ''] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(at('release', name)))
          .digest('hex'),
      ).toBe(digest);
    }
    const files = unzipSync(readFileSync(at('release', `workrail-${version}.mcpb`)));
    for (const [name, bytes] of Object.entries(files)) {
      mkdirSync(join(at('bundle'), name, '..'), { recursive: true });
      writeFileSync(at('bundle', name), bytes);
    }
    const manifest = JSON.parse(readFileSync(at('bundle', 'manifest.json'), 'utf8')) as {
      version: string;
      server: { mcp_config: { args: string[] } };
      tools: { name: string }[];
    };
    expect(manifest.version).toBe(version);
    const args = manifest.server.mcp_config.args.map((arg) => arg.replace(/^\$\{__dirname\}/, at('bundle')));
    const server = await startServer({ command: process.execPath, args, env: { WORKRAIL_DATA_DIR: at('clicked') } });
    expect(await server.tools()).toEqual(manifest.tools.map(({ name }) => name));
    await walkTwoSteps(server);
    await server.stop();
  }, 240_000);
});

async function walkTwoSteps(server: StartedServer): Promise<Step> {
  const call = async (tool: string, args: Record<string, unknown>) => (await server.call(tool, args)).data as Step;
  const first = await call('start_workflow', { workflowId: 'wr.first_steps', goal: 'packed' });
  const second = await call('continue_workflow', { ackToken: first.ackToken, output: { notesMarkdown: 'Looked.' } });
  expect(second).toMatchObject({ kind: 'ok', pending: { stepId: 'propose' } });
  return second;
}
