import { unreachable } from '../assert.ts';
import type { Autonomy, RiskPolicy } from '../log/autonomy.ts';

// Repeated here, because a server reads its settings before it loads anything else. A test keeps them equal.
const MODES = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const satisfies readonly Autonomy[];
const RISK_POLICIES = ['conservative', 'balanced', 'aggressive'] as const satisfies readonly RiskPolicy[];

/** Starts each run as its workflow recommends. Listed last, because a workflow may recommend any mode. */
export const RECOMMENDED = 'recommended';

/** The channels on which a person can answer. */
export const ANSWER_CHANNELS = ['elicitation', 'terminal', 'console', 'team'] as const;

/** A tebibyte: a number that stands for no limit. */
const MEBIBYTES_MAX = 2 ** 20;

/** A client ends a call that takes too long. */
const WAIT_SECONDS_MAX = 300;

/** The type of a setting. */
type ConfigKind =
  | { readonly kind: 'switch' }
  | { readonly kind: 'path' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'list'; readonly values: readonly string[] }
  | { readonly kind: 'count'; readonly min?: number; readonly max: number };

export type SettingKey = ConfigKind & {
  readonly variable: string;
  /** A repository may set how its runs behave; everything else is up to the user of the machine. */
  readonly isForWorkspaces: boolean;
  /**
   * Whether a project and the environment can only tighten it. The values of a choice are then in order, tightest first;
   * a shorter list and a smaller number are tighter.
   */
  readonly isOnlyTightened?: true;
  /** A running server keeps what it read when it started. */
  readonly isReadAtStart?: true;
  /** The default; `undefined` if it depends on something else. */
  readonly fallback: SettingValue | undefined;
  readonly about: string;
  /** The allowed values, as the second half of a sentence. */
  readonly expected: string;
};

/** All settings. */
export const SETTING_KEYS = {
  mode: {
    kind: 'choice',
    values: [...MODES, RECOMMENDED],
    variable: 'WORKRAIL_MODE',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: 'guided',
    about:
      'How much an agent may do on its own in a run that is started without a mode. "recommended" starts each run as its workflow recommends, and workflows of a project, a git source or a package at most guided.',
    expected:
      'guided (the default), full_auto_stop_on_user_deps, full_auto_never_stop or, for the user only, recommended',
  },
  riskPolicy: {
    kind: 'choice',
    values: RISK_POLICIES,
    variable: 'WORKRAIL_RISK_POLICY',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: undefined,
    about:
      'When and how a run that is started without a mode warns. It never loosens a requirement. Default: the policy of the mode.',
    expected: 'conservative, balanced or aggressive',
  },
  'autonomy.max': {
    kind: 'choice',
    values: MODES,
    variable: 'WORKRAIL_AUTONOMY_MAX',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: 'full_auto_never_stop',
    about: 'The loosest mode that anybody can set for a run. A looser one is lowered to it, with a warning.',
    expected: 'guided, full_auto_stop_on_user_deps or full_auto_never_stop (the default)',
  },
  'gates.minimum': {
    kind: 'choice',
    values: ['signed', 'confirmed', 'stated'],
    variable: 'WORKRAIL_GATES_MINIMUM',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: 'stated',
    about:
      "How sure every answer of a person must be. signed: every answer needs the signature of an approver. confirmed: every answer must come on a channel that the agent's calls cannot reach. stated: the agent's word is enough where the workflow asks for no more.",
    expected: 'stated (the default), confirmed or signed',
  },
  'gates.accept': {
    kind: 'list',
    values: ANSWER_CHANNELS,
    variable: 'WORKRAIL_GATES_ACCEPT',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: ANSWER_CHANNELS,
    about:
      "The channels on which an answer of a person counts: the client's form, a terminal, the console, a signed-in member of a team.",
    expected: 'a list of elicitation, terminal, console and team (the default is all of them)',
  },
  'gates.fourEyes': {
    kind: 'switch',
    variable: 'WORKRAIL_GATES_FOUR_EYES',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: false,
    about: 'Whether an answer that must be signed needs the signatures of two approvers with different keys.',
    expected: '1 (two approvers must sign) or 0 (the default)',
  },
  'gates.waitSeconds': {
    kind: 'count',
    max: WAIT_SECONDS_MAX,
    variable: 'WORKRAIL_GATES_WAIT_SECONDS',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: 45,
    about: "How long a call waits for an answer in the client's form. The form stays open after that.",
    expected: `a whole number of seconds, 0 to ${WAIT_SECONDS_MAX} (the default is 45)`,
  },
  'gates.unattended': {
    kind: 'choice',
    values: ['block', 'gap'],
    variable: 'WORKRAIL_GATES_UNATTENDED',
    isForWorkspaces: true,
    isOnlyTightened: true,
    fallback: 'block',
    about: 'What happens at a gate where no person can answer, as in CI: the run stops, or it records a critical gap.',
    expected: 'block (the default) or gap',
  },
  'sessions.author': {
    kind: 'switch',
    variable: 'WORKRAIL_SESSIONS_AUTHOR',
    isForWorkspaces: false,
    fallback: true,
    about:
      'Whether a session that is started in a git repository records the name and address in its git settings as its author. Nobody checks that name. Bundles and passports leave it out unless "export --author" asks for it.',
    expected: '1 (the default) or 0 (record no author)',
  },
  dataDir: {
    kind: 'path',
    variable: 'WORKRAIL_DATA_DIR',
    isForWorkspaces: false,
    isReadAtStart: true,
    fallback: undefined,
    about:
      'The folder for sessions, keys and all other stored data. Default: where the platform keeps the data of programs.',
    expected: 'an absolute path, or a path that starts with ~/ (your home folder)',
  },
  'store.sessionMiB': {
    kind: 'count',
    min: 1,
    max: MEBIBYTES_MAX,
    variable: 'WORKRAIL_STORE_SESSION_MIB',
    isForWorkspaces: false,
    fallback: 256,
    about:
      'How large one session may become, with its artifacts. Calls that would add more are refused and record nothing.',
    expected: `a whole number of mebibytes, 1 to ${MEBIBYTES_MAX} (the default is 256)`,
  },
  'store.dailyMiB': {
    kind: 'count',
    min: 1,
    max: MEBIBYTES_MAX,
    variable: 'WORKRAIL_STORE_DAILY_MIB',
    isForWorkspaces: false,
    fallback: 2048,
    about:
      'How much the data directory may grow in one day (UTC), counted over all processes. Calls that would add more are refused and record nothing.',
    expected: `a whole number of mebibytes, 1 to ${MEBIBYTES_MAX} (the default is 2048)`,
  },
  tokenFormat: {
    kind: 'choice',
    values: ['v1', 'v2'],
    variable: 'WORKRAIL_TOKEN_FORMAT',
    isForWorkspaces: false,
    isReadAtStart: true,
    fallback: 'v2',
    about: 'The format of the tokens that agents get. Tokens of both formats are accepted.',
    expected: 'v1 (long) or v2 (short, the default)',
  },
  log: {
    kind: 'switch',
    variable: 'WORKRAIL_LOG',
    isForWorkspaces: false,
    isReadAtStart: true,
    fallback: false,
    about: 'Whether the server writes a line of JSON to standard error for every call.',
    expected: '1 (log every call to standard error) or 0 (the default)',
  },
  startSession: {
    kind: 'switch',
    variable: 'WORKRAIL_ENABLE_START_SESSION',
    isForWorkspaces: false,
    isReadAtStart: true,
    fallback: false,
    about: 'Whether agents may start a session without a workflow, with the tool start_session.',
    expected: '1 (agents get start_session) or 0 (the default)',
  },
} as const satisfies { readonly [name: string]: SettingKey };

export type SettingName = keyof typeof SETTING_KEYS;
export const SETTING_NAMES = Object.keys(SETTING_KEYS) as readonly SettingName[];

export type SettingValue = string | boolean | number | readonly string[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTING_KEYS, name);
}

/** The value of a text from a variable or a command line; `undefined` if it is invalid. */
export function valueOfText(name: SettingName, text: string): SettingValue | undefined {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'switch') return SWITCHES.get(text.toLowerCase());
  const value = key.kind === 'list' ? listOf(text) : key.kind === 'count' ? countOf(text) : text;
  return isSettingValue(name, value) ? value : undefined;
}

function listOf(text: string): readonly string[] {
  return text.split(',').map((word) => word.trim());
}

function countOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Whether a value is allowed in a file. */
export function isSettingValue(name: SettingName, value: unknown): value is SettingValue {
  const key: SettingKey = SETTING_KEYS[name];
  switch (key.kind) {
    case 'switch':
      return typeof value === 'boolean';
    case 'count':
      return Number.isInteger(value) && Number(value) >= (key.min ?? 0) && Number(value) <= key.max;
    case 'list':
      return Array.isArray(value) && value.every((one) => key.values.includes(one));
    case 'choice':
      return typeof value === 'string' && key.values.includes(value);
    case 'path':
      return typeof value === 'string' && isAbsolutePath(value);
    default:
      return unreachable(key);
  }
}

/** A value as a person writes it. */
export function settingText(value: SettingValue): string {
  return typeof value === 'object' ? value.join(', ') || 'none' : String(value);
}

/** Whether a value of a setting that can only be tightened allows more than another one. No value means no limit. */
export function isLooser(name: SettingName, value: SettingValue | undefined, than: SettingValue | undefined): boolean {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.isOnlyTightened === undefined || than === undefined) return false;
  switch (key.kind) {
    case 'choice':
      return key.values.indexOf(String(value ?? key.values.at(-1))) > key.values.indexOf(String(than));
    case 'list':
      return listed(value ?? key.values).some((one) => !listed(than).includes(one));
    case 'count':
      return Number(value ?? key.max) > Number(than);
    case 'switch':
      return than === true && value !== true;
    default:
      return false;
  }
}

/** The tighter of two values; of two lists, what both have. */
export function tighter(name: SettingName, value: SettingValue, other: SettingValue): SettingValue {
  if (SETTING_KEYS[name].kind === 'list') return listed(value).filter((one) => listed(other).includes(one));
  return isLooser(name, other, value) ? value : other;
}

function listed(value: SettingValue): readonly string[] {
  return typeof value === 'object' ? value : [];
}

/**
 * A relative path would be a different folder in every process, and `~name` cannot be resolved on every system.
 */
function isAbsolutePath(path: string): boolean {
  return /^(?:\/|~(?:[\\/]|$)|[A-Za-z]:[\\/]|\\\\)/.test(path);
}
