import { CONFIG_KEYS, CONFIG_NAMES, type ConfigName, type ConfigValue, valueOfText } from './config-keys.ts';

/** Where a value comes from. */
export type ConfigOrigin =
  | { readonly kind: 'default' }
  | { readonly kind: 'user' | 'workspace'; readonly file: string }
  | { readonly kind: 'variable'; readonly name: string };

/** Something that is set to what means nothing. It is never passed over: whoever set it expects an effect. */
export type ConfigProblem =
  | { readonly code: 'wrong_variable'; readonly name: string; readonly value: string; readonly expected: string }
  | { readonly code: 'unreadable_file'; readonly file: string; readonly cause: string }
  | { readonly code: 'broken_file'; readonly file: string; readonly line: number; readonly problem: string }
  | {
      readonly code: 'unknown_key';
      readonly file: string;
      readonly line: number;
      readonly key: string;
      readonly meant?: ConfigName;
    }
  | {
      readonly code: 'wrong_value';
      readonly file: string;
      readonly line: number;
      readonly key: ConfigName;
      readonly value: string;
      readonly expected: string;
    }
  | { readonly code: 'wrong_place'; readonly file: string; readonly line: number; readonly key: ConfigName };

/** What a file says. */
export type ConfigLayer = {
  readonly origin: Extract<ConfigOrigin, { file: string }>;
  readonly values: { readonly [name in ConfigName]?: ConfigValue };
};

export type ConfigSetting = { readonly value: ConfigValue | undefined; readonly origin: ConfigOrigin };

/** Every setting with where it comes from, and all that is wrong. */
export type ResolvedConfig = {
  readonly settings: { readonly [name in ConfigName]: ConfigSetting };
  readonly problems: readonly ConfigProblem[];
};

type Environment = { readonly [name: string]: string | undefined };

/** Defaults, then the files in their order, then the variables: the later wins. */
export function resolveConfig(layers: readonly ConfigLayer[], env: Environment): ResolvedConfig {
  const problems: ConfigProblem[] = [];
  const settingOf = (name: ConfigName): ConfigSetting => {
    const { variable, expected } = CONFIG_KEYS[name];
    const text = env[variable] ?? '';
    const value = text === '' ? undefined : valueOfText(name, text);
    if (value !== undefined) return { value, origin: { kind: 'variable', name: variable } };
    if (text !== '') problems.push({ code: 'wrong_variable', name: variable, value: text, expected });
    const layer = layers.findLast(({ values }) => values[name] !== undefined);
    return layer === undefined
      ? { value: CONFIG_KEYS[name].fallback, origin: { kind: 'default' } }
      : { value: layer.values[name], origin: layer.origin };
  };
  const settings = Object.fromEntries(CONFIG_NAMES.map((name) => [name, settingOf(name)]));
  return { settings: settings as ResolvedConfig['settings'], problems };
}
