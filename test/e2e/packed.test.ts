import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedServer, startServer } from '../../src/adapters/clients/start-server.ts';
import { enforces } from '../enforces.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

let place: string;
const at = (...names: string[]) => join(place, ...names);

/** A path as people have them: with spaces and letters beyond ASCII. */
beforeAll(() => {
  place = join(mkdtempSync(join(tmpdir(), 'workrail-packed-')), 'Müllers Dateien');
  for (const folder of ['pack', 'user', 'empty']) mkdirSync(at(folder), { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', at('pack')], { stdio: 'pipe' });
  writeFileSync(at('user', 'package.json'), '{"private": true}');
  const [tarball = ''] = readdirSync(at('pack'));
  // Without the optional part, as on a platform for which there is none; what is left needs nothing from elsewhere.
  const install = ['install', '--offline', '--omit=optional', '--no-audit', '--no-fund', at('pack', tarball)];
  execFileSync('npm', install, { cwd: at('user'), stdio: 'pipe' });
});

afterAll(() => rmSync(join(place, '..'), { recursive: true, force: true }));

type Step = { readonly run: { readonly tag: string }; readonly ackToken: string; readonly isComplete: boolean };

describe('the packed package', () => {
  const program = () => at('user', 'node_modules', 'workrail', 'dist', 'workrail.js');
  const env = (data: string) => ({ PATH: process.env['PATH'] ?? '', HOME: at('empty'), WORKRAIL_DATA_DIR: at(data) });
  const workrail = (data: string, ...args: string[]) =>
    execFileSync(at('user', 'node_modules', '.bin', 'workrail'), args, {
      cwd: at('empty'),
      env: env(data),
      encoding: 'utf8',
      stdio: 'pipe',
    });

  it('the packed package works in an empty folder for an agent and for a user', async () => {
    enforces('budget_package_size');
    expect(readdirSync(at('user', 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['workrail']);
    expect(workrail('data', '--version')).toBe(`${version}\n`);
    const server = await startServer({
      command: process.execPath,
      args: [program(), 'serve'],
      env: env('data'),
      cwd: at('empty'),
    });
    const { run } = await walkTwoSteps(server);
    await server.stop();

    expect(workrail('data', 'session', 'tree', run.tag)).toContain('wr.first_steps  "packed"   running');
    workrail('data', 'export', run.tag, '-o', at('session.json'));
    expect(workrail('there', 'import', at('session.json'))).toContain('Imported');
    expect(JSON.parse(workrail('there', 'status', '--json'))).toMatchObject({ ok: true });
  }, 240_000);

  it('the packed package contains no scenarios and no source, and stays small', () => {
    enforces('budget_package_size');
    const [tarball = ''] = readdirSync(at('pack'));
    expect(readFileSync(at('pack', tarball)).length).toBeLessThanOrEqual(3_000_000);
    const root = at('user', 'node_modules', 'workrail');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const bytes = files.reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
    expect(bytes).toBeLessThanOrEqual(15_000_000);
    expect(files.map(({ name }) => name).filter((name) => /\.test\.json$|\.ts$/.test(name))).toEqual([]);
    expect(readdirSync(root).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json', 'schemas', 'workflows']);
  });
});

describe('the bundle for a click', () => {
  it('the desktop bundle starts from any folder by its manifest', async () => {
    execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/package.ts'], { stdio: 'pipe' });
    const files = unzipSync(readFileSync(join('release', `workrail-${version}.mcpb`)));
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
