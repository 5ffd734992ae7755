import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeSetup, HOME, PROGRAM } from '../../../test/cli/fake-setup.ts';
import { enforces } from '../../../test/enforces.ts';
import { CLIENT_IDS } from '../../core/wire/machine-shapes.ts';
import type { ClientServices } from '../ports/machine.ts';
import type { ClientId, ClientScope } from './client.ts';
import { CLIENTS } from './client-list.ts';
import { inspectClient } from './inspect-client.ts';
import { registerClient } from './register-client.ts';
import { undoRegistrations } from './undo-registrations.ts';

const USER_FILES: { readonly [client in ClientId]: string } = {
  'claude-code': `${HOME}/.claude.json`,
  'claude-desktop': `${HOME}/.config/Claude/claude_desktop_config.json`,
  codex: `${HOME}/.codex/config.toml`,
  gemini: `${HOME}/.gemini/settings.json`,
  cursor: `${HOME}/.cursor/mcp.json`,
  vscode: `${HOME}/.config/Code/User/mcp.json`,
  windsurf: `${HOME}/.codeium/windsurf/mcp_config.json`,
  zed: `${HOME}/.config/zed/settings.json`,
  opencode: `${HOME}/.config/opencode/opencode.json`,
};

async function register(
  services: ClientServices,
  id: ClientId,
  more: { isForced?: boolean; scope?: ClientScope } = {},
) {
  const client = CLIENTS.find((one) => one.id === id) ?? expect.fail(id);
  const inspected = (await inspectClient(services, client, { scope: more.scope ?? 'user' })) ?? expect.fail(id);
  return registerClient(services, inspected, { isDry: false, isForced: more.isForced ?? false });
}

const undo = (services: ClientServices) => undoRegistrations(services, { isDry: false, scope: 'user', clients: [] });

describe('a client', () => {
  it.each(CLIENT_IDS)('%s is registered as in the golden file, once, and undo restores every byte', async (id) => {
    enforces('init_clients', 'init_reversible', 'init_edits_in_place');
    const before = golden(`${id}.before`);
    const files = new Map([[USER_FILES[id], before]]);
    const services = fakeSetup({ files });
    expect((await register(services, id)).result).toBe('registered');
    const after = files.get(USER_FILES[id]) ?? '';
    expect(after).toBe(golden(`${id}.after`));

    const all = new Map(files);
    expect((await register(services, id)).result).toBe('unchanged');
    expect(files).toEqual(all);
    expect((await undo(services))._unsafeUnwrap()).toMatchObject([{ result: 'restored' }]);
    expect(files).toEqual(new Map([[USER_FILES[id], before]]));
  });

  it.each(CLIENT_IDS)('%s without a file gets one, and undo removes it', async (id) => {
    enforces('init_reversible');
    const files = new Map<string, string>();
    const services = fakeSetup({ files });
    await register(services, id);
    expect([...files.keys()]).toContain(USER_FILES[id]);
    expect((await register(services, id)).result).toBe('unchanged');
    expect((await undo(services))._unsafeUnwrap()).toMatchObject([{ result: 'removed' }]);
    expect(files).toEqual(new Map());
  });

  it('client files are in other places on macOS and Windows', () => {
    enforces('init_clients');
    const join = (...parts: readonly string[]) => parts.join('/');
    const on = (platform: string) => ({ ...fakeSetup().machine, platform, join, home: '~', env: { APPDATA: 'R' } });
    const places = (platform: string) => CLIENTS.map(({ userFiles }) => userFiles(on(platform))[0]);
    expect(places('darwin')).toEqual([
      '~/.claude.json',
      '~/Library/Application Support/Claude/claude_desktop_config.json',
      '~/.codex/config.toml',
      '~/.gemini/settings.json',
      '~/.cursor/mcp.json',
      '~/Library/Application Support/Code/User/mcp.json',
      '~/.codeium/windsurf/mcp_config.json',
      '~/.config/zed/settings.json',
      '~/.config/opencode/opencode.json',
    ]);
    expect(places('win32').filter((place) => place?.startsWith('R/'))).toEqual([
      'R/Claude/claude_desktop_config.json',
      'R/Code/User/mcp.json',
      'R/Zed/settings.json',
    ]);
    expect(CLIENTS.map(({ id, projectFile }) => `${id} ${projectFile?.join('/') ?? '-'}`)).toEqual([
      'claude-code .mcp.json',
      'claude-desktop -',
      'codex .codex/config.toml',
      'gemini .gemini/settings.json',
      'cursor .cursor/mcp.json',
      'vscode .vscode/mcp.json',
      'windsurf -',
      'zed .zed/settings.json',
      'opencode opencode.json',
    ]);
  });

  it('a desktop client gets the path of node; a terminal client gets the name if it leads here', async () => {
    enforces('init_absolute_node_path');
    const services = fakeSetup({ programs: { workrail: [PROGRAM] } });
    const wanted = await Promise.all(
      CLIENTS.map(async (client) => (await inspectClient(services, client, { scope: 'user' }))?.wanted),
    );
    for (const [i, { id, hasWindow }] of CLIENTS.entries()) {
      const absolute = { command: '/usr/bin/node', args: [PROGRAM, 'serve'], env: {} };
      expect(wanted[i], id).toEqual(hasWindow ? absolute : { command: 'workrail', args: ['serve'], env: {} });
    }
    expect(CLIENTS.filter(({ hasWindow }) => hasWindow).map(({ id }) => id)).toEqual([
      'claude-desktop',
      'cursor',
      'vscode',
      'windsurf',
      'zed',
    ]);
    const other = fakeSetup({ programs: { workrail: ['/usr/lib/other/workrail.js'] } });
    const [first] = CLIENTS;
    expect((await inspectClient(other, first ?? expect.fail(), { scope: 'user' }))?.wanted.command).toBe(
      '/usr/bin/node',
    );
  });

  it('a project is registered without a path of this machine if WorkRail is installed or a dependency', async () => {
    enforces('init_project_can_be_committed');
    const env = { WORKRAIL_DATA_DIR: '/data/ada' };
    const entryOf = async (machine: object, programs = {}) => {
      const files = new Map<string, string>();
      const services = fakeSetup({ files, programs, machine: { env, ...machine } });
      for (const { id } of CLIENTS.filter(({ projectFile }) => projectFile !== undefined)) {
        expect((await register(services, id, { scope: 'project' })).result).toBe('registered');
        expect((await register(services, id, { scope: 'project' })).result).toBe('unchanged');
      }
      const written = [...files].filter(([path]) => path.startsWith('/work/shop/')).map(([, text]) => text);
      expect(written).toHaveLength(7);
      return written;
    };
    const installed = await entryOf({}, { workrail: ['/usr/bin/workrail'] });
    const dependency = await entryOf({ programPath: '/work/shop/node_modules/workrail/dist/workrail.js' });
    for (const text of [...installed, ...dependency]) expect(text).not.toMatch(/\/(?:work|opt|usr|data|home)\//);
    expect(installed[0]).toContain('"command": "workrail"');
    expect(dependency[0]).toContain('"command": "npx"');
    for (const text of await entryOf({})) expect(text).toContain('/opt/workrail/dist/workrail.js');
  });

  it("a registration that a colleague committed counts as ours, and is not replaced by this machine's form", async () => {
    enforces('init_project_can_be_committed');
    const shared = { command: 'npx', args: ['--no', '--', 'workrail', 'serve'], env: {} };
    const text = JSON.stringify({ mcpServers: { workrail: shared } });
    const services = fakeSetup({
      files: new Map([
        ['/work/shop/.mcp.json', text],
        [`${HOME}/.cursor/mcp.json`, text],
      ]),
      programs: { workrail: ['/usr/bin/workrail'] },
    });
    expect((await register(services, 'claude-code', { scope: 'project' })).result).toBe('unchanged');
    // In the user's own file it is something else: there, the path of this program works everywhere.
    expect((await register(services, 'cursor')).result).toBe('kept');
  });

  it('a client gets the data folder if it differs from the default', async () => {
    const files = new Map<string, string>();
    await register(fakeSetup({ files, machine: { env: { WORKRAIL_DATA_DIR: 'runs' } } }), 'opencode');
    expect(JSON.parse(files.get(USER_FILES.opencode) ?? '').mcp.workrail.environment).toEqual({
      WORKRAIL_DATA_DIR: '/work/shop/runs',
    });
  });
});

describe("a client's own command", () => {
  const file = USER_FILES['claude-code'];
  const entry = { type: 'stdio', command: '/usr/bin/node', args: [PROGRAM, 'serve'], env: {} };

  it("a client's own command is used if it exists, and undone to the byte", async () => {
    enforces('init_prefers_client_command');
    const before = '{"a":1}';
    const files = new Map([[file, before]]);
    const runs: unknown[] = [];
    const services = fakeSetup({
      files,
      programs: { claude: ['/usr/bin/claude'] },
      onRun: (run) => {
        runs.push(run);
        files.set(file, JSON.stringify({ a: 1, mcpServers: { workrail: entry } }));
      },
    });
    expect(await register(services, 'claude-code')).toMatchObject({ result: 'registered', via: 'command' });
    expect(runs).toEqual([
      {
        path: '/usr/bin/claude',
        args: ['mcp', 'add', 'workrail', '--scope', 'user', '--', '/usr/bin/node', PROGRAM, 'serve'],
      },
    ]);
    await undo(services);
    expect(files).toEqual(new Map([[file, before]]));
  });

  it("if a client's own command does nothing, the file is edited", async () => {
    enforces('init_prefers_client_command');
    const files = new Map([[file, '{"a":1}']]);
    const onRun = () => files.set(file, '{"a":2}');
    const services = fakeSetup({ files, programs: { claude: ['/usr/bin/claude'] }, onRun });
    expect(await register(services, 'claude-code')).toMatchObject({ result: 'registered', via: 'file' });
    expect(JSON.parse(files.get(file) ?? '')).toEqual({ a: 2, mcpServers: { workrail: entry } });
  });
});

describe('a file of somebody else', () => {
  const file = USER_FILES.cursor;
  const foreign = '{\n  "mcpServers": {\n    "workrail": { "command": "docker", "args": ["run"] } // mine\n  }\n}\n';

  it('an entry that starts something else is kept unless forced, and undo restores it', async () => {
    enforces('init_leaves_foreign_content', 'init_reversible');
    const files = new Map([[file, foreign]]);
    const services = fakeSetup({ files });
    expect((await register(services, 'cursor')).result).toBe('kept');
    expect(files).toEqual(new Map([[file, foreign]]));
    expect((await register(services, 'cursor', { isForced: true })).result).toBe('replaced');
    expect(files.get(file)).toContain('// mine');
    expect(files.get(file)).toContain(PROGRAM);
    await undo(services);
    expect(files).toEqual(new Map([[file, foreign]]));
  });

  it('undo keeps later changes of a file and removes only our entry', async () => {
    enforces('init_reversible');
    const files = new Map([[file, '{\n  "mcpServers": {}\n}\n']]);
    const services = fakeSetup({ files });
    await register(services, 'cursor');
    files.set(file, (files.get(file) ?? '').replace('{\n', '{\n  // later\n'));
    expect((await undo(services))._unsafeUnwrap()).toMatchObject([{ result: 'taken_out' }]);
    expect(files.get(file)).toContain('// later');
    expect(files.get(file)).not.toContain('workrail');
    expect((await undo(services))._unsafeUnwrap()).toEqual([]);
  });

  it('a changed or missing backup is not restored: only our entry is removed, and that is reported', async () => {
    enforces('init_reversible');
    const backup = `${HOME}/.workrail/setup/0001-mcp.json`;
    for (const [tamper, words] of [
      [(files: Map<string, string>) => files.set(backup, '{"evil":1}'), 'was changed'],
      [(files: Map<string, string>) => files.delete(backup), 'is missing'],
    ] as const) {
      const files = new Map([[file, '{"a":1}']]);
      const services = fakeSetup({ files });
      await register(services, 'cursor');
      tamper(files);
      const left = files.get(backup);
      expect((await undo(services))._unsafeUnwrap()).toMatchObject([
        { result: 'taken_out', trouble: expect.stringContaining(words) },
      ]);
      expect(JSON.parse(files.get(file) ?? '')).toEqual({ a: 1, mcpServers: {} });
      expect(files.get(backup)).toBe(left);
    }
  });

  it('a backup never reuses the name of a recorded one', async () => {
    enforces('init_reversible');
    const files = new Map([[file, '{"a":1}']]);
    const services = fakeSetup({ files });
    await register(services, 'cursor');
    files.delete(`${HOME}/.workrail/setup/0001-mcp.json`);
    files.set(file, '{"b":2}');
    expect(await register(services, 'cursor')).toMatchObject({ backup: `${HOME}/.workrail/setup/0002-mcp.json` });
  });

  it('a broken client file is reported with its line and not changed', async () => {
    enforces('init_leaves_foreign_content');
    for (const [id, text] of [
      ['cursor', '{\n  "mcpServers": {\n'],
      ['codex', 'a = 1\nb =\n'],
    ] as const) {
      const files = new Map([[USER_FILES[id], text]]);
      const registered = await register(fakeSetup({ files }), id, { isForced: true });
      expect(registered).toMatchObject({ result: 'broken', inspected: { state: { line: id === 'codex' ? 2 : 3 } } });
      expect(files).toEqual(new Map([[USER_FILES[id], text]]));
    }
  });

  it('a client file that cannot be written leaves nothing to undo', async () => {
    const files = new Map([[file, '{}']]);
    const services = fakeSetup({ files, sealed: [file] });
    expect((await register(services, 'cursor')).result).toBe('failed');
    expect(files).toEqual(new Map([[file, '{}']]));
  });
});

function golden(name: string): string {
  return readFileSync(join('test/golden/init', `${name}.txt`), 'utf8');
}
