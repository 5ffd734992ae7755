import type { Autonomy, RiskPolicy } from '../log/autonomy.ts';

// Repeated here, because a server reads its settings before it loads anything else. A test keeps them equal.
const MODES = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const satisfies readonly Autonomy[];
const RISK_POLICIES = ['conservative', 'balanced', 'aggressive'] as const satisfies readonly RiskPolicy[];

/** The type of a setting. */
type ConfigKind =
  | { readonly kind: 'switch' }
  | { readonly kind: 'path' }
  | { readonly kind: 'choice'; readonly values: readonly string[] };

export type SettingKey = ConfigKind & {
  readonly variable: string;
  /** A repository may set how its runs behave; everything else is up to the user of the machine. */
  readonly isForWorkspaces: boolean;
  /** The default; `undefined` if it depends on something else. */
  readonly fallback: string | boolean | undefined;
  readonly about: string;
  /** The allowed values, as the second half of a sentence. */
  readonly expected: string;
};

/** All settings. */
export const SETTING_KEYS = {
  mode: {
    kind: 'choice',
    values: MODES,
    variable: 'WORKRAIL_MODE',
    isForWorkspaces: true,
    fallback: 'guided',
    about: 'How much an agent may do on its own in a run that is started without a mode.',
    expected: 'guided (the default), full_auto_stop_on_user_deps or full_auto_never_stop',
  },
  riskPolicy: {
    kind: 'choice',
    values: RISK_POLICIES,
    variable: 'WORKRAIL_RISK_POLICY',
    isForWorkspaces: true,
    fallback: undefined,
    about:
      'When and how a run that is started without a mode warns. It never loosens a requirement. Default: the policy of the mode.',
    expected: 'conservative, balanced or aggressive',
  },
  dataDir: {
    kind: 'path',
    variable: 'WORKRAIL_DATA_DIR',
    isForWorkspaces: false,
    fallback: undefined,
    about:
      'The folder for sessions, keys and all other stored data. Default: where the platform keeps the data of programs.',
    expected: 'an absolute path, or a path that starts with ~/ (your home folder)',
  },
  tokenFormat: {
    kind: 'choice',
    values: ['v1', 'v2'],
    variable: 'WORKRAIL_TOKEN_FORMAT',
    isForWorkspaces: false,
    fallback: 'v2',
    about: 'The format of the tokens that agents get. Tokens of both formats are accepted.',
    expected: 'v1 (long) or v2 (short, the default)',
  },
  log: {
    kind: 'switch',
    variable: 'WORKRAIL_LOG',
    isForWorkspaces: false,
    fallback: false,
    about: 'Whether the server writes a line of JSON to standard error for every call.',
    expected: '1 (log every call to standard error) or 0 (the default)',
  },
  startSession: {
    kind: 'switch',
    variable: 'WORKRAIL_ENABLE_START_SESSION',
    isForWorkspaces: false,
    fallback: false,
    about: 'Whether agents may start a session without a workflow, with the tool start_session.',
    expected: '1 (agents get start_session) or 0 (the default)',
  },
} as const satisfies { readonly [name: string]: SettingKey };

export type SettingName = keyof typeof SETTING_KEYS;
export const SETTING_NAMES = Object.keys(SETTING_KEYS) as readonly SettingName[];

export type SettingValue = string | boolean;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTING_KEYS, name);
}

/** The value of a text from a variable or a command line; `undefined` if it is invalid. */
export function valueOfText(name: SettingName, text: string): SettingValue | undefined {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'switch') return SWITCHES.get(text.toLowerCase());
  if (key.kind === 'choice') return key.values.includes(text) ? text : undefined;
  return isAbsolutePath(text) ? text : undefined;
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** Whether a value is allowed in a file. */
export function isSettingValue(name: SettingName, value: unknown): value is SettingValue {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'switch') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  return key.kind === 'choice' ? key.values.includes(value) : isAbsolutePath(value);
}

/**
 * A relative path would be a different folder in every process, and `~name` cannot be resolved on every system.
 */
function isAbsolutePath(path: string): boolean {
  return /^(?:\/|~(?:[\\/]|$)|[A-Za-z]:[\\/]|\\\\)/.test(path);
}
