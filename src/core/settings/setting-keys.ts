import type { Autonomy, RiskPolicy } from '../log/autonomy.ts';

// Written out here, because a server reads its settings before it loads anything else; a test holds them equal.
const MODES = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const satisfies readonly Autonomy[];
const RISK_POLICIES = ['conservative', 'balanced', 'aggressive'] as const satisfies readonly RiskPolicy[];

/** What a setting may be. */
type ConfigKind =
  | { readonly kind: 'switch' }
  | { readonly kind: 'path' }
  | { readonly kind: 'choice'; readonly values: readonly string[] };

export type SettingKey = ConfigKind & {
  readonly variable: string;
  /** A repository may say how runs in it go; everything else is for the user of the machine to say. */
  readonly isForWorkspaces: boolean;
  /** What holds when nobody says anything; `undefined` where that depends on something else. */
  readonly fallback: string | boolean | undefined;
  readonly about: string;
  /** What it may be, as the second half of a sentence. */
  readonly expected: string;
};

/** Every setting there is. */
export const SETTING_KEYS = {
  mode: {
    kind: 'choice',
    values: MODES,
    variable: 'WORKRAIL_MODE',
    isForWorkspaces: true,
    fallback: 'guided',
    about: 'How far an agent may go alone in a run that is started without a mode.',
    expected: 'guided (the default), full_auto_stop_on_user_deps or full_auto_never_stop',
  },
  riskPolicy: {
    kind: 'choice',
    values: RISK_POLICIES,
    variable: 'WORKRAIL_RISK_POLICY',
    isForWorkspaces: true,
    fallback: undefined,
    about:
      'When a run that is started without a mode warns, and how; it never loosens a requirement. By default that of the mode.',
    expected: 'conservative, balanced or aggressive',
  },
  dataDir: {
    kind: 'path',
    variable: 'WORKRAIL_DATA_DIR',
    isForWorkspaces: false,
    fallback: undefined,
    about:
      'Where sessions, keys and everything else durable lies. By default where the platform keeps the data of a program.',
    expected: 'a path from the root, or one that begins with ~/ for your own home folder',
  },
  tokenFormat: {
    kind: 'choice',
    values: ['v1', 'v2'],
    variable: 'WORKRAIL_TOKEN_FORMAT',
    isForWorkspaces: false,
    fallback: 'v2',
    about: 'The form of the tokens that agents are handed. Tokens of both forms are understood.',
    expected: 'v1 (long) or v2 (short, the default)',
  },
  log: {
    kind: 'switch',
    variable: 'WORKRAIL_LOG',
    isForWorkspaces: false,
    fallback: false,
    about: 'Whether a server writes a line of JSON to standard error for every call.',
    expected: '1 (every call on standard error) or 0 (the default)',
  },
  startSession: {
    kind: 'switch',
    variable: 'WORKRAIL_ENABLE_START_SESSION',
    isForWorkspaces: false,
    fallback: false,
    about: 'Whether agents may begin a session without a workflow, with the tool start_session.',
    expected: '1 (agents get start_session) or 0 (the default)',
  },
} as const satisfies { readonly [name: string]: SettingKey };

export type SettingName = keyof typeof SETTING_KEYS;
export const SETTING_NAMES = Object.keys(SETTING_KEYS) as readonly SettingName[];

export type SettingValue = string | boolean;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTING_KEYS, name);
}

/** A value written as text, in a variable or on a command line; `undefined` when it means nothing. */
export function valueOfText(name: SettingName, text: string): SettingValue | undefined {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'switch') return SWITCHES.get(text.toLowerCase());
  if (key.kind === 'choice') return key.values.includes(text) ? text : undefined;
  return isWholePath(text) ? text : undefined;
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** Whether a value may stand in a file. */
export function isSettingValue(name: SettingName, value: unknown): value is SettingValue {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'switch') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  return key.kind === 'choice' ? key.values.includes(value) : isWholePath(value);
}

/**
 * A relative path would mean another folder in every process, and the home folder of somebody else cannot be found in a
 * way that holds on every system.
 */
function isWholePath(path: string): boolean {
  return /^(?:\/|~(?:[\\/]|$)|[A-Za-z]:[\\/]|\\\\)/.test(path);
}
