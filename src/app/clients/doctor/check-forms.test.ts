import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeSetup } from '../../../../test/cli/fake-setup.ts';
import { nodeUserFiles } from '../../../adapters/clients/user-files.ts';
import { checkForms } from './check-forms.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'workrail-forms-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: unknown): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function check(env: { readonly [name: string]: string } = {}) {
  const machine = { home: join(root, 'home'), workspace: join(root, 'shop'), join, env };
  return checkForms({ ...fakeSetup({ machine }), files: nodeUserFiles(machine) });
}

const hooks = (name: string, matcher?: string) => ({
  hooks: { [name]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command: 'yes' }] }] },
});
const OURS = { mcpServers: { workrail: { command: 'workrail', args: ['serve'] } } };

describe('doctor and forms', () => {
  it('a machine without hooks and settings that answer forms gets one good finding', async () => {
    put('home/.claude/settings.json', { ...hooks('PreToolUse'), model: 'x' });
    put('home/.codex/config.toml', '[mcp_servers.workrail]\ncommand = "workrail"\n');
    expect(await check()).toMatchObject([{ check: 'forms', kind: 'good' }]);
  });

  it('hooks that answer forms are found in the settings of the user, the project and this machine', async () => {
    const files = [
      put('home/.claude/settings.json', hooks('Elicitation')),
      put('shop/.claude/settings.json', `// from a clone\n${JSON.stringify(hooks('ElicitationResult', 'work.*'))}`),
      put('shop/.claude/settings.local.json', hooks('Elicitation', 'github|workrail')),
    ];
    const found = await check();
    expect(found.map(({ kind, text }) => [kind, text])).toEqual([
      ['note', expect.stringContaining('(~/.claude/settings.json): the hook Elicitation can answer forms')],
      ['note', expect.stringContaining('the hook ElicitationResult can answer forms')],
      ['note', expect.stringContaining('settings.local.json): the hook Elicitation can answer')],
    ]);
    for (const [i, { fix }] of found.entries()) expect(fix).toContain(`from hooks in ${files[i]}`);
  });

  it('a hook in an installed plugin is found, also where the settings folder was moved', async () => {
    const installPath = join(root, 'plugins', 'yes');
    put('plugins/yes/hooks/hooks.json', hooks('Elicitation', '*'));
    put('moved/plugins/installed_plugins.json', { version: 2, plugins: { 'yes@market': [{ installPath }] } });
    const found = await check({ CLAUDE_CONFIG_DIR: join(root, 'moved') });
    expect(found).toMatchObject([{ kind: 'note', text: expect.stringContaining('hooks.json): the hook Elicitation') }]);
  });

  it.each([
    ['workrail', 'note'],
    ['^work.*$', 'note'],
    ['plugin:workrail:workrail', 'note'],
    ['(w|x)orkrail', 'note'],
    ['[', 'note'],
    ['github', 'good'],
    ['^git.*', 'good'],
    ['rail', 'good'],
  ])('a hook with the matcher %s gives a %s', async (matcher, kind) => {
    put('home/.claude/settings.json', hooks('Elicitation', matcher));
    expect((await check()).map((finding) => finding.kind)).toEqual([kind]);
  });

  it('Codex that never asks is found for the user and in a profile, if workrail is registered there', async () => {
    const never = 'approval_policy = "never"\n[profiles.night]\napproval_policy = "never"\n';
    const file = put('home/.codex/config.toml', never);
    expect(await check()).toMatchObject([{ kind: 'good' }]);
    put('shop/.codex/config.toml', '[mcp_servers.workrail]\ncommand = "workrail"\n');
    expect(await check()).toMatchObject([
      {
        kind: 'note',
        text: 'Codex (~/.codex/config.toml): approval_policy = "never" declines every form without showing it',
        fix: expect.stringContaining(`Set approval_policy = "on-request" in ${file}.`),
      },
      { kind: 'note', text: expect.stringContaining('profiles.night.approval_policy = "never"') },
    ]);
  });

  it('Cursor is named as a client that does not show forms, if workrail is registered there', async () => {
    put('home/.cursor/mcp.json', {});
    expect(await check()).toMatchObject([{ kind: 'good' }]);
    put('home/.cursor/mcp.json', OURS);
    expect(await check()).toMatchObject([
      {
        kind: 'note',
        text: 'Cursor (~/.cursor/mcp.json): Cursor does not show forms in 3.10, although it says that it can',
        fix: expect.stringContaining('"workrail answer"'),
      },
    ]);
    // On a team server, people answer in its console.
    const bridge = { command: 'workrail', args: ['connect', 'https://rail.example/s/shop'] };
    put('home/.cursor/mcp.json', { mcpServers: { workrail: bridge } });
    expect(await check()).toMatchObject([{ kind: 'good' }]);
  });

  it('files that are broken or of an unexpected shape do not stop the check', async () => {
    put('home/.claude/settings.json', '{"hooks": {"Elicitation": "all"');
    put('shop/.claude/settings.json', '[]');
    put('home/.claude/plugins/installed_plugins.json', { plugins: 7 });
    put('home/.codex/config.toml', '= = =');
    expect(await check()).toMatchObject([{ kind: 'good' }]);
  });
});
