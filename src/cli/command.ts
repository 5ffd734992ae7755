import type { Result } from 'neverthrow';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import type { Line } from './output/line.ts';
import type { Progress } from './output/progress.ts';
import type { Program } from './program.ts';

/** What a command is run with. It writes nothing itself: it returns what is to be said. */
export type CommandContext = {
  readonly program: Pick<
    Program,
    | 'version'
    | 'terminal'
    | 'calledAs'
    | 'dataDir'
    | 'store'
    | 'exchange'
    | 'bench'
    | 'theatre'
    | 'listing'
    | 'overview'
    | 'setup'
    | 'ask'
    | 'upkeep'
    | 'sources'
    | 'serve'
  >;
  readonly switches: Switches;
  readonly progress: Progress;
  /** Says a line to a person, now; for what cannot wait until the command is over. */
  readonly say: (line: Line) => void;
};

/** Why a command did not succeed, and what the process ends with. */
export type CommandProblem = { readonly error: ErrorEnvelope; readonly exitCode: ExitCode };

/** What came out of a command. */
export type CommandOutcome =
  | {
      readonly kind: 'done';
      /** The document under `--json`; its shape is published. */
      readonly data: unknown;
      /** The same for people. */
      readonly lines: readonly Line[];
      /** What a check found wrong; the data is shown all the same. */
      readonly problem?: CommandProblem;
      /** The command to type next, or a sentence that leads there; empty where no person reads it. */
      readonly next: string;
    }
  | { readonly kind: 'serving' };

/** What was written behind the name of the command. */
export type CommandInput = {
  readonly operands: readonly string[];
  /** By their long names in camel case; a flag without a value is `true`. */
  readonly options: { readonly [name: string]: unknown };
};

export type RunCommand = (
  context: CommandContext,
  input: CommandInput,
) => Promise<Result<CommandOutcome, CommandProblem>>;

/** Words that only stand before others. */
export const COMMAND_GROUPS = {
  session: { summary: 'look after recorded sessions', example: 'workrail session verify' },
  workflow: { summary: 'write, check, preview and test workflows', example: 'workrail workflow check' },
  config: { summary: 'the settings, each with where it comes from', example: 'workrail config list' },
  source: { summary: 'where workflows come from', example: 'workrail source list' },
  keys: { summary: 'the keys that tokens are signed with', example: 'workrail keys status' },
} as const;
export type CommandGroup = keyof typeof COMMAND_GROUPS;

/** A command as help shows it; its code is loaded when it is run. */
export type CommandEntry = {
  readonly group?: CommandGroup;
  readonly verb: string;
  readonly summary: string;
  readonly operands?: Operand;
  /** Those that stand behind the first. */
  readonly furtherOperands?: readonly Operand[];
  readonly options?: readonly { readonly flags: string; readonly help: string }[];
  readonly example: string;
  /** Whether it also runs when the settings are wrong, because it shows or mends them, or needs none. */
  readonly needsNoConfig?: true;
  readonly load: () => Promise<RunCommand>;
};

type Operand = { readonly syntax: string; readonly help: string };

/** The words that call a command. */
export function commandName({ group, verb }: Pick<CommandEntry, 'group' | 'verb'>): string {
  return group === undefined ? verb : `${group} ${verb}`;
}

/** What a command line ends with; scripts rely on it. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  checkFailed: 4,
  needsPerson: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a command that ended with this error. */
export function exitCodeOf(code: ErrorEnvelope['code']): ExitCode {
  switch (code) {
    case 'VALIDATION_ERROR':
      return EXIT.usage;
    case 'SESSION_NOT_FOUND':
    case 'WORKFLOW_NOT_FOUND':
      return EXIT.notFound;
    case 'BUNDLE_INVALID_FORMAT':
    case 'BUNDLE_UNSUPPORTED_VERSION':
    case 'BUNDLE_INTEGRITY_FAILED':
    case 'BUNDLE_MISSING_SNAPSHOT':
    case 'BUNDLE_MISSING_PINNED_WORKFLOW':
    case 'BUNDLE_EVENT_ORDER_INVALID':
    case 'BUNDLE_MANIFEST_ORDER_INVALID':
      return EXIT.checkFailed;
    default:
      return EXIT.failed;
  }
}

/** What may be said on any command line. */
export type Switches = {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isColorless: boolean;
};

/** In the order help shows them. */
export const SWITCHES = {
  '--json': 'print one JSON document instead of text, errors too',
  '--quiet': 'say nothing on standard error but errors',
  '--verbose': 'tell more',
  '--no-color': 'no colours (NO_COLOR does the same)',
} as const;

type CommandLine = { readonly switches: Switches; readonly words: readonly string[] };

/** Takes the switches out of a command line, wherever they stand before a `--`. */
export function readSwitches(argv: readonly string[]): CommandLine {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const head = argv.slice(0, end);
  const has = (name: keyof typeof SWITCHES) => head.includes(name);
  return {
    switches: {
      isJson: has('--json'),
      isQuiet: has('--quiet'),
      isVerbose: has('--verbose'),
      isColorless: has('--no-color'),
    },
    words: [...head.filter((word) => !Object.hasOwn(SWITCHES, word)), ...argv.slice(end)],
  };
}
