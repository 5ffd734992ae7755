import { describe, expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { fakeSetup, HOME } from '../../test/cli/fake-setup.ts';
import { enforces } from '../../test/enforces.ts';
import { resolveSettings } from '../core/settings/resolve-settings.ts';
import { parseSettingsFile } from '../core/settings/settings-file.ts';
import { commandShape } from './command-shape.ts';
import { configList, configSet } from './settings.ts';

const configListShape = commandShape('config list', configList.data);
const configSetShape = commandShape('config set', configSet.data);

const USER = { kind: 'user', file: `${HOME}/.workrail/config.json` } as const;
const WORKSPACE = { kind: 'workspace', file: '/work/shop/.workrail/config.json' } as const;

function machine(env: { readonly [name: string]: string } = {}, text?: string) {
  const files = new Map<string, string>(text === undefined ? [] : [[USER.file, text]]);
  const config = () => {
    const parsed = [USER, WORKSPACE].flatMap((origin) => {
      const held = files.get(origin.file);
      return held === undefined ? [] : [parseSettingsFile(held, origin)];
    });
    const resolved = resolveSettings(
      parsed.map(({ layer }) => layer),
      env,
    );
    return { ...resolved, problems: [...parsed.flatMap(({ problems }) => problems), ...resolved.problems] };
  };
  return { files, setup: fakeSetup({ files, config, machine: { env } }) };
}

/** Sets something at a terminal and types the code that is asked for. */
function loosen(setup: ReturnType<typeof machine>['setup'], ...argv: string[]) {
  return runFake({
    argv: ['config', 'set', ...argv],
    setup,
    terminals: ['input', 'output', 'error'],
    ask: { write: async ({ message }) => /Type ([A-Z]{4}) /.exec(message)?.[1] },
  });
}

describe('config', () => {
  it('config list shows every setting and where its value comes from', async () => {
    enforces('cli_config_shows_origin');
    const { setup, files } = machine({ WORKRAIL_TOKEN_FORMAT: 'v1' }, '{"log": true, "mode": "full_auto_never_stop"}');
    files.set(WORKSPACE.file, '{"mode": "full_auto_stop_on_user_deps", "gates.accept": ["terminal"]}');
    const { out } = await runFake({ argv: ['config', 'list', '--json'], setup });
    const document = configListShape.parse(JSON.parse(out));
    expect(document.data?.settings).toEqual([
      { key: 'mode', value: 'full_auto_stop_on_user_deps', origin: WORKSPACE },
      { key: 'riskPolicy', value: 'balanced', origin: { kind: 'default' } },
      { key: 'autonomy.max', value: 'full_auto_never_stop', origin: { kind: 'default' } },
      { key: 'gates.minimum', value: 'stated', origin: { kind: 'default' } },
      { key: 'gates.accept', value: ['terminal'], origin: WORKSPACE },
      { key: 'gates.fourEyes', value: false, origin: { kind: 'default' } },
      { key: 'gates.waitSeconds', value: 45, origin: { kind: 'default' } },
      { key: 'gates.unattended', value: 'block', origin: { kind: 'default' } },
      { key: 'sessions.author', value: true, origin: { kind: 'default' } },
      { key: 'dataDir', value: '/data/workrail', origin: { kind: 'default' } },
      { key: 'store.sessionMiB', value: 256, origin: { kind: 'default' } },
      { key: 'store.dailyMiB', value: 2048, origin: { kind: 'default' } },
      { key: 'tokenFormat', value: 'v1', origin: { kind: 'variable', name: 'WORKRAIL_TOKEN_FORMAT' } },
      { key: 'log', value: true, origin: USER },
      { key: 'startSession', value: false, origin: { kind: 'default' } },
    ]);
    const text = await runFake({ argv: ['config', 'list'], setup });
    expect(text.out).toMatch(/^mode {15}full_auto_stop_on_user_deps {2}\/work\/shop\/.workrail\/config.json\n/);
    expect(await runFake({ argv: ['config', 'get', 'log'], setup })).toMatchObject({
      exitCode: 0,
      out: 'true\n',
      talk: `from: ${USER.file}\nNext: workrail config list\n`,
    });
  });

  it('config set changes one setting, keeps the rest of the file, and says if something overrides it', async () => {
    enforces('preferences_set_from_cli');
    const { setup, files } = machine({ WORKRAIL_LOG: '0' }, '{\n  // mine\n  "log": false // quiet\n}\n');
    const set = (...argv: string[]) => runFake({ argv: ['config', 'set', ...argv], setup });
    expect(await loosen(setup, 'mode', 'full_auto_never_stop')).toMatchObject({ exitCode: 0 });
    expect(files.get(USER.file)).toBe('{\n  // mine\n  "log": false, // quiet\n  "mode": "full_auto_never_stop"\n}\n');
    expect((await set('log', '1')).out).toContain('WORKRAIL_LOG overrides it.');
    expect(files.get(USER.file)).toContain('"log": true, // quiet');
    expect((await set('log', 'true')).out).toContain('Already set; nothing changed.');
    await set('mode', '--unset');
    expect(files.get(USER.file)).not.toContain('mode');
    await set('mode', 'guided', '--project');
    expect(files.get(WORKSPACE.file)).toBe('{\n  "mode": "guided"\n}\n');
    const { out } = await set('mode', 'guided', '--project', '--json');
    expect(configSetShape.parse(JSON.parse(out)).data).toEqual({
      key: 'mode',
      value: 'guided',
      file: WORKSPACE.file,
      isChanged: false,
    });
  });

  it('config refuses an unknown setting, an invalid value and an invalid file, and changes nothing', async () => {
    const { setup, files } = machine({}, '{\n  "log": tru\n}');
    const before = new Map(files);
    const ended = async (...argv: string[]) => {
      const { exitCode, talk } = await runFake({ argv: ['config', ...argv], setup });
      return [exitCode, talk];
    };
    expect(await ended('get', 'mod')).toEqual([2, expect.stringContaining('Did you mean mode?')]);
    expect(await ended('set', 'mode', 'auto')).toEqual([
      2,
      expect.stringContaining('The value can be guided (the default)'),
    ]);
    expect(await ended('set', 'mode')).toEqual([2, expect.stringContaining('mode needs a value, or --unset')]);
    expect(await ended('set', 'dataDir', 'here')).toEqual([
      2,
      expect.stringContaining('The value can be an absolute path'),
    ]);
    expect(await ended('set', 'dataDir', '/data', '--project')).toEqual([
      2,
      expect.stringContaining('not for a project'),
    ]);
    expect(await ended('set', 'mode', 'guided')).toEqual([
      1,
      expect.stringContaining('config.json, line 2: not valid JSON'),
    ]);
    expect(await ended('list')).toEqual([4, expect.stringContaining('config.json, line 2')]);
    expect(files).toEqual(before);
  });

  it('while a setting is invalid, only the commands that show settings run', async () => {
    const configProblems = ['/home/ada/.workrail/config.json, line 2: not valid JSON (comma expected).'];
    for (const argv of [['session', 'verify'], ['keys', 'rotate'], ['--quiet']]) {
      const { exitCode, talk, calls } = await runFake({ argv, configProblems, terminals: ['input'] });
      expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] });
      expect(talk).toContain(`A setting is invalid. ${configProblems[0]}`);
    }
    expect(await runFake({ argv: ['config', 'path'], configProblems, setup: fakeSetup() })).toMatchObject({
      exitCode: 0,
    });
  });
});

describe('config set that allows agents more', () => {
  const LOOSER = [
    ['mode', 'full_auto_stop_on_user_deps'],
    ['mode', 'recommended'],
    ['riskPolicy', 'balanced'],
    ['autonomy.max', '--unset'],
    ['gates.minimum', 'stated'],
    ['gates.accept', 'terminal,console'],
    ['gates.waitSeconds', '60'],
    ['gates.unattended', 'gap'],
  ] as const;
  const TIGHT = '{"autonomy.max": "guided", "gates.minimum": "confirmed", "gates.accept": ["terminal"]}';

  it.each(LOOSER)('%s %s needs a terminal and a code, and no flag replaces them', async (...words) => {
    enforces('loosening_needs_terminal');
    const { setup, files } = machine({}, TIGHT);
    const refused = await runFake({ argv: ['config', 'set', ...words], setup });
    expect(refused).toMatchObject({ exitCode: 5, out: '' });
    expect(refused.talk).toContain(`Run this in a terminal of your own: workrail config set ${words.join(' ')}`);
    expect((await runFake({ argv: ['config', 'set', ...words, '--yes'], setup })).exitCode).toBe(2);
    expect(files.get(USER.file)).toBe(TIGHT);
    expect((await loosen(setup, ...words)).exitCode).toBe(0);
    expect(files.get(USER.file)).not.toBe(TIGHT);
  });

  it('a project file is loosened at a terminal only, and a project may always be stricter', async () => {
    const { setup, files } = machine();
    const set = (...words: string[]) => runFake({ argv: ['config', 'set', ...words, '--project'], setup });
    expect((await set('gates.minimum', 'confirmed')).exitCode).toBe(0);
    expect((await set('mode', 'guided')).exitCode).toBe(0);
    const strict = files.get(WORKSPACE.file);
    expect((await set('gates.minimum', '--unset')).exitCode).toBe(5);
    expect((await set('gates.minimum', 'stated')).exitCode).toBe(5);
    expect((await set('mode', 'full_auto_never_stop')).exitCode).toBe(5);
    expect(files.get(WORKSPACE.file)).toBe(strict);
  });

  it('a looser value in a project file is written and reported as ignored', async () => {
    const { setup } = machine();
    const { out } = await runFake({ argv: ['config', 'set', 'mode', 'full_auto_never_stop', '--project'], setup });
    expect(out).toContain('which is looser than guided (default). It is ignored.');
    const list = await runFake({ argv: ['config', 'list', '--json'], setup });
    expect(configListShape.parse(JSON.parse(list.out)).data?.ignored).toEqual([
      `${WORKSPACE.file} sets mode to full_auto_never_stop, which is looser than guided (default). It is ignored.`,
    ]);
  });
});
