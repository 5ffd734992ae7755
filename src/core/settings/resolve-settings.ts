import type { RiskPolicy } from '../log/autonomy.ts';
import {
  isLooser,
  RECOMMENDED,
  SETTING_KEYS,
  SETTING_NAMES,
  type SettingKey,
  type SettingName,
  type SettingValue,
  tighter,
  valueOfText,
} from './setting-keys.ts';

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

/** A value of a project or of the environment that is looser than what applies, and was ignored. */
export type LooserSetting = {
  readonly key: SettingName;
  readonly value: SettingValue;
  readonly origin: SettingOrigin;
  /** What applies instead. */
  readonly kept: Setting;
};

/** A setting that this version does not know: a spelling mistake, or a setting of a newer version. */
export type UnknownSetting = Extract<SettingProblem, { code: 'unknown_key' }>;

export type IgnoredSetting = LooserSetting | UnknownSetting;

/** Every setting with its source, and all problems. */
export type ResolvedSettings = {
  readonly settings: { readonly [name in SettingName]: Setting };
  /** If the user's mode is "recommended": the mode that a project or the environment limits it to. */
  readonly recommendedLimit?: Setting;
  readonly ignored: readonly IgnoredSetting[];
  readonly problems: readonly SettingProblem[];
};

type Environment = { readonly [name: string]: string | undefined };
type Given = { readonly value: SettingValue; readonly origin: SettingOrigin };

/**
 * Files override defaults, later files override earlier ones, and variables override files. Settings about what an agent
 * may do are different: there the tightest value applies, so a cloned repository cannot allow more than its user does.
 */
export function resolveSettings(layers: readonly SettingsLayer[], env: Environment): ResolvedSettings {
  const problems: SettingProblem[] = [];
  const ignored: IgnoredSetting[] = [];
  const settings: { [name in SettingName]?: Setting } = {};
  let recommendedLimit: Setting | undefined;
  for (const name of SETTING_NAMES) {
    const given = [...givenIn(layers, name), ...givenBy(env, name, problems)];
    const { isOnlyTightened, fallback }: SettingKey = SETTING_KEYS[name];
    if (isOnlyTightened === undefined) {
      settings[name] = given.at(-1) ?? { value: fallback, origin: { kind: 'default' } };
      continue;
    }
    const own = given.find(({ origin }) => origin.kind === 'user');
    const others = given.filter((one) => one !== own);
    const start = own ?? { value: fallback ?? impliedPolicy(settings.mode?.value), origin: { kind: 'default' } };
    const resolved = tightest(name, start, others);
    ignored.push(...resolved.ignored);
    settings[name] =
      resolved.setting.origin.kind === 'default' ? { ...resolved.setting, value: fallback } : resolved.setting;
    if (name === 'mode' && own?.value === RECOMMENDED) {
      settings.mode = own;
      if (resolved.setting.value !== RECOMMENDED) recommendedLimit = resolved.setting;
    }
  }
  const limit = recommendedLimit === undefined ? {} : { recommendedLimit };
  return { settings: settings as ResolvedSettings['settings'], ...limit, ignored, problems };
}

function givenIn(layers: readonly SettingsLayer[], name: SettingName): readonly Given[] {
  return layers.flatMap(({ origin, values }) => {
    const { [name]: value } = values;
    return value === undefined ? [] : [{ value, origin }];
  });
}

function givenBy(env: Environment, name: SettingName, problems: SettingProblem[]): readonly Given[] {
  const { variable, expected } = SETTING_KEYS[name];
  const text = env[variable] ?? '';
  if (text === '') return [];
  const value = valueOfText(name, text);
  if (value !== undefined) return [{ value, origin: { kind: 'variable', name: variable } }];
  problems.push({ code: 'wrong_variable', name: variable, value: text, expected });
  return [];
}

function tightest(
  name: SettingName,
  start: Setting,
  others: readonly Given[],
): { readonly setting: Setting; readonly ignored: readonly IgnoredSetting[] } {
  const ignored: IgnoredSetting[] = [];
  let setting = start;
  for (const { value, origin } of others) {
    if (isLooser(name, value, setting.value)) ignored.push({ key: name, value, origin, kept: setting });
    const next = setting.value === undefined ? value : tighter(name, setting.value, value);
    if (isLooser(name, setting.value, next)) setting = { value: next, origin };
  }
  return { setting, ignored };
}

/** The risk policy that a mode brings with it. */
function impliedPolicy(mode: SettingValue | undefined): RiskPolicy {
  return mode === 'full_auto_stop_on_user_deps' ? 'balanced' : 'conservative';
}
