import { SETTING_KEYS, SETTING_NAMES, type SettingName, type SettingValue, valueOfText } from './setting-keys.ts';

/** The source of a value. */
export type SettingOrigin =
  | { readonly kind: 'default' }
  | { readonly kind: 'user' | 'workspace'; readonly file: string }
  | { readonly kind: 'variable'; readonly name: string };

/** An invalid setting. It is always reported, because the user who set it expects an effect. */
export type SettingProblem =
  | { readonly code: 'wrong_variable'; readonly name: string; readonly value: string; readonly expected: string }
  | { readonly code: 'unreadable_file'; readonly file: string; readonly cause: string }
  | { readonly code: 'broken_file'; readonly file: string; readonly line: number; readonly problem: string }
  | {
      readonly code: 'unknown_key';
      readonly file: string;
      readonly line: number;
      readonly key: string;
      readonly meant?: SettingName;
    }
  | {
      readonly code: 'wrong_value';
      readonly file: string;
      readonly line: number;
      readonly key: SettingName;
      readonly value: string;
      readonly expected: string;
    }
  | { readonly code: 'wrong_place'; readonly file: string; readonly line: number; readonly key: SettingName };

/** The settings of one file. */
export type SettingsLayer = {
  readonly origin: Extract<SettingOrigin, { file: string }>;
  readonly values: { readonly [name in SettingName]?: SettingValue };
};

export type Setting = { readonly value: SettingValue | undefined; readonly origin: SettingOrigin };

/** Every setting with its source, and all problems. */
export type ResolvedSettings = {
  readonly settings: { readonly [name in SettingName]: Setting };
  readonly problems: readonly SettingProblem[];
};

type Environment = { readonly [name: string]: string | undefined };

/** Files override defaults, later files override earlier ones, and variables override files. */
export function resolveSettings(layers: readonly SettingsLayer[], env: Environment): ResolvedSettings {
  const problems: SettingProblem[] = [];
  const settingOf = (name: SettingName): Setting => {
    const { variable, expected } = SETTING_KEYS[name];
    const text = env[variable] ?? '';
    const value = text === '' ? undefined : valueOfText(name, text);
    if (value !== undefined) return { value, origin: { kind: 'variable', name: variable } };
    if (text !== '') problems.push({ code: 'wrong_variable', name: variable, value: text, expected });
    const layer = layers.findLast(({ values }) => values[name] !== undefined);
    return layer === undefined
      ? { value: SETTING_KEYS[name].fallback, origin: { kind: 'default' } }
      : { value: layer.values[name], origin: layer.origin };
  };
  const settings = Object.fromEntries(SETTING_NAMES.map((name) => [name, settingOf(name)]));
  return { settings: settings as ResolvedSettings['settings'], problems };
}
