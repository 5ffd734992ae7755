import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { LOOSEST } from '../../../test/examples/loosest-settings.ts';
import { AUTONOMY, PRESETS, RISK_POLICY } from '../log/autonomy.ts';
import { type ResolvedSettings, resolveSettings } from './resolve-settings.ts';
import { isLooser, SETTING_KEYS, SETTING_NAMES, type SettingName } from './setting-keys.ts';
import { parseSettingsFile } from './settings-file.ts';
import { chosenMode, gateSettings, runDefaults, startPreferences } from './settings-in-effect.ts';
import { configProblemText, ignoredText } from './settings-words.ts';

const user = { kind: 'user', file: '/home/ada/.workrail/config.json' } as const;
const workspace = { kind: 'workspace', file: '/work/.workrail/config.json' } as const;

describe('settings', () => {
  it('the settings allow exactly the modes and risk policies that runs have', () => {
    expect(SETTING_KEYS.mode.values).toEqual([...AUTONOMY, 'recommended']);
    expect(SETTING_KEYS['autonomy.max'].values).toEqual(AUTONOMY);
    expect(SETTING_KEYS.riskPolicy.values).toEqual(RISK_POLICY);
  });

  it('a variable overrides the workspace file, which overrides the user file, which overrides the default', () => {
    enforces('cli_config_shows_origin');
    const resolved = resolve(
      { mode: 'full_auto_never_stop', log: true, dataDir: '~/runs', riskPolicy: 'aggressive' },
      { mode: 'full_auto_stop_on_user_deps' },
      { WORKRAIL_LOG: '0', WORKRAIL_TOKEN_FORMAT: '' },
    );
    expect(resolved.settings).toMatchObject({
      mode: { value: 'full_auto_stop_on_user_deps', origin: workspace },
      riskPolicy: { value: 'aggressive', origin: user },
      dataDir: { value: '~/runs', origin: user },
      tokenFormat: { value: 'v2', origin: { kind: 'default' } },
      log: { value: false, origin: { kind: 'variable', name: 'WORKRAIL_LOG' } },
      startSession: { value: false, origin: { kind: 'default' } },
    });
    expect([resolved.problems, resolved.ignored]).toEqual([[], []]);
    expect(runDefaults(resolved)).toMatchObject({ autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' });
    expect(runDefaults(resolveSettings([], {}))).toMatchObject(PRESETS.guided);
  });

  it('every invalid setting is reported with its file and line', () => {
    const text = '{\n  "mode": "auto",\n  "tokenFromat": "v1",\n  "dataDir": "here",\n  "log": 1\n}';
    expect(parseSettingsFile(text, user).problems.map(configProblemText)).toEqual([
      `${user.file}, line 2: mode is "auto", but must be ${SETTING_KEYS.mode.expected}.`,
      `${user.file}, line 3: unknown setting "tokenFromat". Did you mean tokenFormat?`,
      `${user.file}, line 4: dataDir is "here", but must be ${SETTING_KEYS.dataDir.expected}.`,
      `${user.file}, line 5: log is 1, but must be true or false (the default).`,
    ]);
    const broken = parseSettingsFile('{\n  "log": true\n  "mode": 1\n}', user).problems;
    expect(broken.map(configProblemText)).toEqual([`${user.file}, line 3: not valid JSON (comma expected).`]);
    expect(parseSettingsFile('[]', user).problems).toHaveLength(1);
  });

  it.each(['v3', 'V1', 'json', 'toString'])('are refused when a variable asks for the token format %s', (value) => {
    expect(resolveSettings([], { WORKRAIL_TOKEN_FORMAT: value }).problems).toEqual([
      {
        code: 'wrong_variable',
        name: 'WORKRAIL_TOKEN_FORMAT',
        value,
        expected: 'v1 (long) or v2 (short, the default)',
      },
    ]);
  });

  it('a data folder must be an absolute path or below the home folder of the user', () => {
    const problems = (value: string) => resolveSettings([], { WORKRAIL_DATA_DIR: value }).problems;
    for (const value of ['~ada', '~ada/runs', 'here', './here', '../there']) expect(problems(value)).toHaveLength(1);
    for (const value of ['', '~', '~/runs', '/data/~', 'C:\\data']) expect(problems(value)).toEqual([]);
  });

  it('a workspace file cannot change the settings of the machine', () => {
    for (const name of SETTING_NAMES) {
      const { fallback, isForWorkspaces } = SETTING_KEYS[name];
      const { layer, problems } = parseSettingsFile(JSON.stringify({ [name]: fallback ?? '/data' }), workspace);
      expect(problems.some(({ code }) => code === 'wrong_place')).toBe(!isForWorkspaces);
      if (!isForWorkspaces) expect(layer.values).toEqual({});
    }
  });
});

const resolve = (
  own: { readonly [key: string]: unknown },
  project: { readonly [key: string]: unknown },
  env: { readonly [name: string]: string } = {},
): ResolvedSettings =>
  resolveSettings(
    [parseSettingsFile(JSON.stringify(own), user).layer, parseSettingsFile(JSON.stringify(project), workspace).layer],
    env,
  );

const TIGHTEST = {
  mode: 'guided',
  riskPolicy: 'conservative',
  'autonomy.max': 'guided',
  'gates.minimum': 'signed',
  'gates.accept': ['terminal'],
  'gates.fourEyes': true,
  'gates.waitSeconds': 5,
  'gates.unattended': 'block',
};
const LOOSE_ENV = {
  WORKRAIL_MODE: 'full_auto_never_stop',
  WORKRAIL_RISK_POLICY: 'aggressive',
  WORKRAIL_AUTONOMY_MAX: 'full_auto_never_stop',
  WORKRAIL_GATES_MINIMUM: 'stated',
  WORKRAIL_GATES_ACCEPT: 'elicitation, terminal,console,team',
  WORKRAIL_GATES_FOUR_EYES: '0',
  WORKRAIL_GATES_WAIT_SECONDS: '300',
  WORKRAIL_GATES_UNATTENDED: 'gap',
};

/** Values without their sources. */
function values({ settings }: ResolvedSettings) {
  return Object.fromEntries(Object.keys(LOOSEST).map((name) => [name, settings[name as SettingName].value]));
}

describe('settings about what an agent may do', () => {
  it('neither a project nor the environment can loosen what the user set', () => {
    enforces('settings_only_tighten');
    const resolved = resolve(TIGHTEST, LOOSEST, LOOSE_ENV);
    expect(values(resolved)).toEqual(TIGHTEST);
    expect(resolved.ignored.map((one) => [one.key, 'origin' in one && one.origin.kind])).toEqual(
      Object.keys(LOOSEST).flatMap((key) => [
        [key, 'workspace'],
        [key, 'variable'],
      ]),
    );
  });

  it('neither a project nor the environment can loosen the defaults', () => {
    const untouched = values(resolveSettings([], {}));
    const resolved = resolve({}, LOOSEST, LOOSE_ENV);
    expect(values(resolved)).toEqual(untouched);
    expect(runDefaults(resolved)).toMatchObject(PRESETS.guided);
    expect(gateSettings(resolved).unattended).toBe('block');
    expect(resolved.ignored.map(ignoredText)).toContain(
      `${workspace.file} sets mode to full_auto_never_stop, which is looser than guided (default). It is ignored.`,
    );
    expect(resolved.ignored.map(ignoredText)).toContain(
      'WORKRAIL_GATES_UNATTENDED sets gates.unattended to gap, which is looser than block (default). It is ignored.',
    );
  });

  it('a project and the environment can tighten', () => {
    expect(values(resolve(LOOSEST, TIGHTEST))).toEqual(TIGHTEST);
    const env = { WORKRAIL_MODE: 'guided', WORKRAIL_GATES_ACCEPT: 'console', WORKRAIL_GATES_MINIMUM: 'confirmed' };
    const { settings, ignored } = resolve(LOOSEST, {}, env);
    expect(settings.mode).toEqual({ value: 'guided', origin: { kind: 'variable', name: 'WORKRAIL_MODE' } });
    expect(settings['gates.accept'].value).toEqual(['console']);
    expect(gateSettings({ settings, problems: [] })).toEqual({
      minimum: 'confirmed',
      accept: ['console'],
      isFourEyes: false,
      waitSeconds: 300,
      unattended: 'gap',
    });
    expect(ignored).toEqual([]);
  });

  it('only channels that everybody accepts count', () => {
    const { settings } = resolve({ 'gates.accept': ['terminal', 'console'] }, { 'gates.accept': ['console', 'team'] });
    expect(settings['gates.accept'].value).toEqual(['console']);
  });

  it('gates are at their tightest while a setting is invalid', () => {
    const { settings } = resolve({ 'gates.unattended': 'gap' }, {});
    const problems = [{ code: 'broken_file', file: workspace.file, line: 1, problem: 'x' } as const];
    expect(gateSettings({ settings, problems })).toMatchObject({
      minimum: 'signed',
      isFourEyes: true,
      unattended: 'block',
    });
  });

  it('every value is looser than every tighter one and than none', () => {
    for (const [name, loose] of Object.entries(LOOSEST)) {
      const tight = TIGHTEST[name as keyof typeof TIGHTEST];
      const key = name as SettingName;
      expect([isLooser(key, loose, tight), isLooser(key, tight, loose), isLooser(key, tight, tight)]).toEqual([
        true,
        false,
        false,
      ]);
      expect([isLooser(key, undefined, tight), isLooser(key, loose, undefined)]).toEqual([true, false]);
    }
    expect(isLooser('log', true, false)).toBe(false);
  });

  it('a setting that a file has twice is invalid', () => {
    const { problems } = parseSettingsFile(
      '{\n"gates.minimum": "signed", "mode": "guided",\n"gates.minimum": "stated"}',
      user,
    );
    expect(problems.map(configProblemText)).toEqual([
      `${user.file}, line 3: gates.minimum is set twice; remove one of them.`,
    ]);
  });

  it('a nested object is an unknown setting that names the flat one', () => {
    const { problems } = parseSettingsFile('{"gates": {"minimum": "stated"}}', workspace);
    expect(problems.map(configProblemText)).toEqual([
      `${workspace.file}, line 1: unknown setting "gates". Did you mean gates.minimum?`,
    ]);
  });
});

describe('the preferences of a run', () => {
  const bundled = { recommended: {}, kind: 'bundled' } as const;

  it('the source says whether the user, the project, the environment or nobody set the mode', () => {
    const started = (...given: Parameters<typeof resolve>) => startPreferences(runDefaults(resolve(...given)), bundled);
    const by = { via: 'config' };
    expect(started({}, {})).toEqual({ preferences: PRESETS.guided, source: 'system' });
    expect(started({ mode: 'full_auto_never_stop' }, {})).toMatchObject({ source: 'user', by });
    expect(started({ mode: 'full_auto_never_stop' }, { mode: 'guided' })).toMatchObject({ source: 'policy', by });
    expect(started({ mode: 'full_auto_never_stop' }, {}, { WORKRAIL_MODE: 'guided' })).toMatchObject({
      source: 'environment',
      by,
    });
  });

  it('autonomy.max lowers every mode and says where it is set', () => {
    const defaults = runDefaults(resolve({ mode: 'full_auto_never_stop' }, { 'autonomy.max': 'guided' }));
    const cause = `autonomy.max (${workspace.file})`;
    const cap = { asked: 'full_auto_never_stop', effective: 'guided', cause };
    const lowered = { preferences: PRESETS.guided, source: 'policy', by: { via: 'config' }, cap };
    expect(chosenMode('full_auto_never_stop', defaults)).toEqual(lowered);
    expect(startPreferences(defaults, bundled)).toEqual(lowered);
    expect(chosenMode('guided', defaults)).toEqual({ preferences: PRESETS.guided, source: 'agent' });
  });

  it('"recommended" follows bundled workflows and the own ones of the user, and no others', () => {
    const defaults = runDefaults(resolve({ mode: 'recommended' }, {}));
    const recommended = { autonomy: 'full_auto_never_stop' } as const;
    for (const kind of ['bundled', 'user'] as const) {
      expect(startPreferences(defaults, { recommended, kind })).toMatchObject({
        preferences: { autonomy: 'full_auto_never_stop' },
        source: 'workflow_recommendation',
      });
    }
    for (const kind of ['project', 'remote', 'plugin'] as const) {
      expect(startPreferences(defaults, { recommended, kind })).toMatchObject({
        preferences: PRESETS.guided,
        source: 'workflow_recommendation',
        cap: { asked: 'full_auto_never_stop', effective: 'guided', cause: 'the source of the workflow' },
      });
    }
    expect(startPreferences(defaults, bundled).preferences).toEqual(PRESETS.guided);
  });

  it('a project limits "recommended" and never raises it', () => {
    const defaults = runDefaults(resolve({ mode: 'recommended' }, { mode: 'full_auto_stop_on_user_deps' }));
    const start = (autonomy: 'guided' | 'full_auto_never_stop') =>
      startPreferences(defaults, { recommended: { autonomy }, kind: 'bundled' });
    expect(start('guided').preferences.autonomy).toBe('guided');
    expect(start('full_auto_never_stop')).toMatchObject({
      preferences: { autonomy: 'full_auto_stop_on_user_deps' },
      cap: { cause: `mode (${workspace.file})` },
    });
    const { settings, ignored } = resolve({}, { mode: 'recommended' });
    expect(settings.mode.value).toBe('guided');
    expect(ignored).toHaveLength(1);
  });
});
