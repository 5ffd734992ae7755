import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { AUTONOMY, PRESETS, RISK_POLICY } from '../log/autonomy.ts';
import { resolveSettings } from './resolve-settings.ts';
import { SETTING_KEYS, SETTING_NAMES } from './setting-keys.ts';
import { parseSettingsFile } from './settings-file.ts';
import { defaultPreferences } from './settings-in-effect.ts';
import { configProblemText } from './settings-words.ts';

const user = { kind: 'user', file: '/home/ada/.workrail/config.json' } as const;
const workspace = { kind: 'workspace', file: '/work/.workrail/config.json' } as const;

describe('settings', () => {
  it('the settings allow exactly the modes and risk policies that runs have', () => {
    expect(SETTING_KEYS.mode.values).toEqual(AUTONOMY);
    expect(SETTING_KEYS.riskPolicy.values).toEqual(RISK_POLICY);
  });

  it('a variable overrides the workspace file, which overrides the user file, which overrides the default', () => {
    enforces('cli_config_shows_origin');
    const layers = [
      parseSettingsFile('{"mode": "full_auto_never_stop", "log": true, "dataDir": "~/runs"}', user).layer,
      parseSettingsFile('// ours\n{"mode": "full_auto_stop_on_user_deps", "riskPolicy": "aggressive",}', workspace)
        .layer,
    ];
    const resolved = resolveSettings(layers, { WORKRAIL_LOG: '0', WORKRAIL_TOKEN_FORMAT: '' });
    expect(resolved).toEqual({
      settings: {
        mode: { value: 'full_auto_stop_on_user_deps', origin: workspace },
        riskPolicy: { value: 'aggressive', origin: workspace },
        dataDir: { value: '~/runs', origin: user },
        tokenFormat: { value: 'v2', origin: { kind: 'default' } },
        log: { value: false, origin: { kind: 'variable', name: 'WORKRAIL_LOG' } },
        startSession: { value: false, origin: { kind: 'default' } },
      },
      problems: [],
    });
    expect(defaultPreferences(resolved)).toEqual({ autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' });
    expect(defaultPreferences(resolveSettings([], {}))).toEqual(PRESETS.guided);
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
