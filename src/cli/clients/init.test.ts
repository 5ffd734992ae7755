import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { fakeSetup, HOME } from '../../../test/cli/fake-setup.ts';
import { enforces } from '../../../test/enforces.ts';
import type { LocalServices } from '../../app/clients/local-services.ts';
import { commandShape } from '../command-shape.ts';
import { init } from './init.ts';

const initShape = commandShape('init', init.data);

const CURSOR = `${HOME}/.cursor/mcp.json`;
const TERMINAL = ['input', 'error'] as const;

function machine() {
  const files = new Map([
    [CURSOR, '{}\n'],
    [`${HOME}/.gemini/settings.json`, '{}\n'],
  ]);
  return { files, setup: fakeSetup({ files }) };
}

const documentOf = (out: string) => initShape.parse(JSON.parse(out));

describe('init', () => {
  it('init asks in a terminal which of the found clients to register', async () => {
    const { files, setup } = machine();
    const asked: unknown[] = [];
    const choose = async (question: { choices: readonly { value: string }[] }) => {
      asked.push(question.choices.map(({ value }) => value));
      return ['cursor'];
    };
    const ran = await runFake({ argv: ['init'], setup, terminals: TERMINAL, env: { NO_COLOR: '1' }, ask: { choose } });
    expect(ran).toMatchObject({ exitCode: 0, talk: 'Next: restart the client, then run: workrail doctor\n' });
    expect(asked).toEqual([['gemini', 'cursor']]);
    expect(ran.out).toMatch(
      /^✓ Cursor {2}registered {2}~\/.cursor\/mcp.json\n {10}backup: ~\/.workrail\/setup\/0001-mcp.json\n• Cursor .* does not show forms/,
    );
    expect(files.get(CURSOR)).toContain('workrail');
    const broken = await runFake({
      argv: ['init'],
      setup,
      terminals: TERMINAL,
      ask: { choose: async () => undefined },
    });
    expect(broken.exitCode).toBe(130);
  });

  it.each([
    [['--client', 'cursor', '--project'], '--client cursor --project'],
    [['--all', '--force'], '--all --force'],
    [['--yes'], '--yes'],
    [['--team', 'https://rail.example/s/shop', '--all'], '--team https://rail.example/s/shop --all'],
  ])('init suggests the same command without --dry-run after a dry run of %j', async (argv, typed) => {
    enforces('cli_last_line_suggests_next');
    const { talk } = await runFake({ argv: ['init', '--dry-run', ...argv], setup: machine().setup });
    expect(talk).toBe(`Next: workrail init ${typed}\n`);
  });

  it('init --team registers the bridge to a space, writes no token, and replaces a local server only if forced', async () => {
    const { files, setup } = machine();
    const team = (address: string, ...more: readonly string[]) =>
      runFake({
        argv: ['init', '--client', 'cursor', '--team', address, ...more],
        setup,
        env: { WORKRAIL_TOKEN: 'wrp_x' },
      });
    const wrong = await team('rail.example');
    expect([wrong.exitCode, files.get(CURSOR)]).toEqual([2, '{}\n']);
    const ran = await team('https://rail.example/s/shop/mcp');
    expect([ran.exitCode, ran.out]).toEqual([0, expect.stringContaining('WORKRAIL_TOKEN')]);
    const { args, env } = JSON.parse(files.get(CURSOR) ?? '').mcpServers.workrail;
    expect([args.slice(-2), env]).toEqual([['connect', 'https://rail.example/s/shop'], {}]);
    expect((await team('https://rail.example/s/shop')).out).toContain('already registered');
    expect((await runFake({ argv: ['doctor'], setup })).out).toContain(
      'passes calls on to https://rail.example/s/shop',
    );
    const other = await team('https://rail.example/s/other');
    expect(other.talk).toContain('workrail init --client cursor --team https://rail.example/s/other --force');
    expect((await team('https://rail.example/s/other', '--force')).exitCode).toBe(0);
    expect(files.get(CURSOR)).toContain('/s/other');
  });

  it.each([
    'https://ada:s3cret@rail.example/s/shop',
    'https://s3cret@rail.example/s/shop',
    'https://rail.example/s/shop?token=s3cret',
    'https://rail.example/s/shop#s3cret',
    'ada:s3cret@rail.example/s/shop',
  ])('init --team and connect refuse %s and do not repeat it', async (address) => {
    const { files, setup } = machine();
    for (const argv of [
      ['init', '--client', 'cursor', '--team', address],
      ['init', '--team', address],
      ['connect', address],
    ]) {
      const { exitCode, out, talk } = await runFake({ argv, setup });
      expect([exitCode, files.get(CURSOR)]).toEqual([2, '{}\n']);
      expect(out + talk).not.toContain('s3cret');
      expect(talk).toContain('Use https://HOST/s/SPACE');
    }
  });

  it('init warns of everything that answers or hides forms, in the words of doctor', async () => {
    const { files, setup } = machine();
    const hooks = { Elicitation: [{ matcher: 'workrail', hooks: [] }] };
    files.set(`${HOME}/.claude/settings.json`, JSON.stringify({ hooks }));
    const { out } = await runFake({ argv: ['init', '--client', 'cursor', '--json'], setup });
    const doctor = await runFake({ argv: ['doctor', '--json'], setup });
    const { data } = JSON.parse(doctor.out) as {
      readonly data: { readonly findings: readonly { check: string; kind: string; text: string; fix?: string }[] };
    };
    const found = data.findings.filter(({ check }) => check === 'forms').map(({ text, fix }) => ({ text, fix }));
    expect(found.map(({ text }) => /hook Elicitation|Cursor does not/.exec(text)?.[0])).toEqual([
      'hook Elicitation',
      'Cursor does not',
    ]);
    expect(documentOf(out).data?.forms).toEqual(found);
    const shown = await runFake({ argv: ['init', '--client', 'cursor'], setup });
    expect(shown.out).toContain(
      'the hook Elicitation can answer forms of workrail without asking a person\n  → Remove',
    );
    const undone = await runFake({ argv: ['init', '--undo', '--json'], setup });
    expect(documentOf(undone.out).data?.forms).toBeUndefined();
  });

  it('init repeats the typed options in its advice if it finds no client', async () => {
    const setup = fakeSetup({ files: new Map() });
    const { talk } = await runFake({ argv: ['init', '--project', '--dry-run'], setup });
    expect(talk).toContain('workrail init --client claude-code --project --dry-run');
  });

  it('init without a terminal asks nothing and accepts --yes, --all or --client', async () => {
    enforces('cli_interaction_switches', 'cli_exit_codes');
    const { files, setup } = machine();
    const before = new Map(files);
    for (const argv of [['init'], ['init', '--json'], ['init', '--project']]) {
      const { exitCode, out, talk } = await runFake({ argv, setup });
      expect(exitCode).toBe(5);
      expect(out + talk).toContain('workrail init --yes');
      expect(files).toEqual(before);
    }
    for (const argv of [['--yes'], ['--all'], ['--client', 'cursor,Gemini CLI']]) {
      const { exitCode, out } = await runFake({ argv: ['init', '--json', ...argv], setup: machine().setup });
      expect(exitCode).toBe(0);
      expect(
        documentOf(out)
          .data?.clients.map(({ client, result }) => `${client} ${result}`)
          .sort(),
      ).toEqual(['cursor registered', 'gemini registered']);
    }
  });

  it('init --dry-run shows a diff or the command it would run, and changes nothing', async () => {
    enforces('init_reversible');
    const { files } = machine();
    const before = new Map(files);
    const setup = fakeSetup({ files, programs: { gemini: ['/usr/bin/gemini'] } });
    const { exitCode, out, talk } = await runFake({ argv: ['init', '--dry-run'], setup });
    expect({ exitCode, talk }).toEqual({ exitCode: 0, talk: 'Next: workrail init\n' });
    expect(out).toContain('runs: gemini mcp add --scope user workrail /usr/bin/node');
    expect(out).toContain(`  --- ${CURSOR}\n  +++ ${CURSOR}\n  @@ -1,1 +1,12 @@\n  -{}\n  +{\n`);
    expect(files).toEqual(before);
  });

  it('init --undo restores every file, or only those of the named clients', async () => {
    enforces('init_reversible');
    const { files, setup } = machine();
    const before = new Map(files);
    await runFake({ argv: ['init', '--yes'], setup });
    const first = await runFake({ argv: ['init', '--undo', '--client', 'cursor', '--json'], setup });
    expect(documentOf(first.out).data).toMatchObject({
      action: 'undo',
      clients: [{ client: 'cursor', result: 'restored' }],
    });
    await runFake({ argv: ['init', '--undo', '--dry-run'], setup });
    expect((await runFake({ argv: ['init', '--undo'], setup })).out).toContain('restored exactly');
    expect(files).toEqual(before);
    expect((await runFake({ argv: ['init', '--undo'], setup })).out).toBe('Nothing to undo.\n');
  });

  it('init --undo restores the files of the user, and with --project those in this folder, never those of another one', async () => {
    enforces('init_reversible');
    const { files, setup } = machine();
    const other = fakeSetup({ files, machine: { workspace: '/work/other' } });
    const run = (setup: LocalServices, ...argv: string[]) => runFake({ argv: ['init', ...argv], setup });
    await run(setup, '--client', 'cursor');
    await run(setup, '--project', '--client', 'claude-code,cursor');
    await run(other, '--project', '--client', 'claude-code');
    const here = ['/work/shop/.mcp.json', '/work/shop/.cursor/mcp.json'];
    const isRegistered = () =>
      [CURSOR, ...here, '/work/other/.mcp.json'].map((file) => files.get(file)?.includes('serve'));
    expect(isRegistered()).toEqual([true, true, true, true]);

    const before = new Map(files);
    const planned = await run(setup, '--undo', '--project', '--dry-run');
    expect(planned.out.match(/would be removed; there was no file before/g)).toHaveLength(2);
    expect(planned.talk).toBe('Next: workrail init --undo --project\n');
    expect(planned.out).toContain('This is what init --undo would do:');
    expect((await run(setup, '--undo', '--dry-run')).out).toContain('would be restored exactly');
    expect((await run(setup, '--undo', '--client', 'cursor', '--dry-run')).talk).toBe(
      'Next: workrail init --undo --client cursor\n',
    );
    expect(files).toEqual(before);

    await run(setup, '--undo', '--project', '--client', 'cursor');
    expect(isRegistered()).toEqual([true, true, undefined, true]);
    await run(setup, '--undo');
    expect(isRegistered()).toEqual([false, true, undefined, true]);
    expect((await run(setup, '--undo', '--project')).talk).toBe('Next: workrail init --project\n');
    expect(isRegistered()).toEqual([false, undefined, undefined, true]);
    // With nothing left to undo, the same command again leads nowhere.
    for (const more of [[], ['--dry-run']]) {
      expect((await run(setup, '--undo', '--project', ...more)).talk).toBe('Next: workrail doctor\n');
    }
    await run(other, '--undo', '--project');
    expect(files.has('/work/other/.mcp.json')).toBe(false);
  });

  it('init names the file it could not change and why, and registers the other clients', async () => {
    enforces('init_leaves_foreign_content');
    const { files, setup } = machine();
    files.set(CURSOR, '{\n  "mcpServers": {,}\n}');
    const { exitCode, out, talk } = await runFake({ argv: ['init', '--yes'], setup });
    expect(exitCode).toBe(1);
    expect(out).toMatch(
      /✗ Cursor +not changed: the file is invalid \(not valid JSON \(.+\)\) {2}~\/.cursor\/mcp.json, line 2/,
    );
    expect(out).toMatch(/✓ Gemini CLI +registered/);
    expect(talk).toContain(`Could not change 1 file: ${CURSOR}.`);

    files.set(CURSOR, '{"mcpServers":{"workrail":{"command":"docker"}}}');
    const kept = await runFake({ argv: ['init', '--yes', '--json'], setup });
    expect([kept.exitCode, documentOf(kept.out)]).toMatchObject([
      5,
      { ok: false, error: { fix: 'To replace it: workrail init --client cursor --force' } },
    ]);
  });

  it('init does not suggest --force where --force would not help', async () => {
    enforces('init_leaves_foreign_content');
    const files = new Map([[`${HOME}/.codex/config.toml`, '[mcp_servers]\nworkrail.command = "docker"\n']]);
    for (const argv of [
      ['init', '--yes'],
      ['init', '--yes', '--force'],
      ['doctor', '--fix'],
    ]) {
      const tryLaunch = async () => ({ kind: 'stale', missing: 'docker' }) as const;
      const { out, talk } = await runFake({ argv, setup: fakeSetup({ files, health: { tryLaunch } }) });
      expect(out).toContain('"workrail" is not written as a separate table. Change it by hand');
      expect(out).toContain('line 2');
      expect(out + talk).not.toMatch(/--f(?:orce|ix)/);
    }
  });

  it('init refuses options that contradict each other or do not apply', async () => {
    const { setup } = machine();
    const ended = async (...argv: string[]) => {
      const { exitCode, talk } = await runFake({ argv: ['init', ...argv], setup });
      return [exitCode, talk];
    };
    expect(await ended('--client', 'curser')).toEqual([2, expect.stringContaining('Did you mean cursor?')]);
    expect(await ended('--client', 'cursor', '--all')).toEqual([2, expect.stringContaining('Remove one of them')]);
    expect(await ended('--client', 'windsurf', '--project')).toEqual([2, expect.stringContaining('no project file')]);
    const nobody = await runFake({ argv: ['init', '--yes'], setup: fakeSetup() });
    expect(nobody).toMatchObject({ exitCode: 3, talk: expect.stringContaining('workrail init --client claude-code') });
  });

  it('init --project says whether a team can commit the entry', async () => {
    enforces('init_project_can_be_committed');
    const said = async (programs: Record<string, readonly string[]>, programPath?: string) => {
      const { files } = machine();
      const changed = programPath === undefined ? {} : { programPath };
      const setup = fakeSetup({ files, programs, machine: { ...changed, env: { WORKRAIL_DATA_DIR: '/d' } } });
      const argv = ['init', '--project', '--client', 'claude-code'];
      const { out } = await runFake({ argv, setup });
      const again = await runFake({ argv: [...argv, '--json'], setup });
      return { out, form: JSON.parse(again.out).data.clients[0].form };
    };
    const installed = await said({ workrail: ['/usr/bin/workrail'] });
    expect(installed).toEqual({ out: expect.stringContaining('"workrail" on the PATH'), form: 'path_command' });
    expect(installed.out).toContain('WORKRAIL_DATA_DIR of this shell is not written into project files.');
    const dependency = await said({}, '/work/shop/node_modules/workrail/dist/workrail.js');
    expect(dependency).toEqual({ out: expect.stringContaining('with npx'), form: 'package_runner' });
    expect(await said({})).toEqual({ out: expect.stringContaining('do not commit it'), form: 'this_machine' });
  });

  it('init warns if it would register a workrail from the npx cache', async () => {
    const { files } = machine();
    const programPath = '/home/ada/.npm/_npx/1a2b/node_modules/workrail/dist/workrail.js';
    const { out } = await runFake({ argv: ['init', '--yes'], setup: fakeSetup({ files, machine: { programPath } }) });
    expect(out).toContain('To keep it: npm install -g ./workrail-VERSION.tgz');
  });
});
