import { ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import type { Line } from './output/line.ts';
import type { Progress } from './output/progress.ts';
import type { CommandProblem } from './problem.ts';
import type { Program } from './program.ts';

/** A command: what its help page shows, what `--json` prints, and what it does. */
export type Command<Shape extends z.ZodType = z.ZodType> = {
  readonly operands?: readonly { readonly syntax: string; readonly help: string }[];
  readonly options?: readonly { readonly flags: string; readonly help: string }[];
  readonly example: string;
  /** The command refuses an option that is given twice: a check with one of two values is not a check with the other. */
  readonly takesOptionsOnce?: true;
  /** Whether it also runs when a setting is invalid, because it shows or fixes settings, or needs none. */
  readonly needsNoConfig?: true;
  /** The `data` of its JSON document, which is published. A command that serves prints no document. */
  readonly data?: Shape;
  readonly run: RunCommand<z.output<Shape>>;
};

/** Defines a command; the compiler checks that it returns data of its published shape. */
export function command<Shape extends z.ZodType>(
  definition: Command<Shape> & { readonly data: Shape },
): Command<Shape> & { readonly data: Shape } {
  return definition;
}

export type RunCommand<Data = unknown> = (
  context: CommandContext,
  input: CommandInput,
) => PromiseLike<Result<CommandOutcome<Data>, CommandProblem>>;

/** What a command runs with. A command prints nothing itself: it returns what to print. */
export type CommandContext = {
  readonly program: Omit<Program, 'argv' | 'env' | 'write' | 'writeError' | 'configProblems'>;
  readonly switches: Switches;
  readonly progress: Progress;
  /** Prints a line to standard error at once, for what cannot wait until the command ends. */
  readonly say: (line: Line) => void;
};

/** What follows the name of the command. */
export type CommandInput = {
  readonly operands: readonly string[];
  /** By their long names in camel case; a flag without a value is `true`. */
  readonly options: { readonly [name: string]: unknown };
};

export type CommandOutcome<Data = unknown> =
  | {
      readonly kind: 'done';
      readonly data: Data;
      /** The same for people. */
      readonly lines: readonly Line[];
      /** What a check found wrong; the data is printed too. */
      readonly problem?: CommandProblem | undefined;
      /** The command to type next, or a sentence that leads there; empty where no person reads it. */
      readonly next: string;
    }
  /** With what a script must know, which is printed instead of messages under --json and --quiet. */
  | { readonly kind: 'serving'; readonly data?: Data; readonly lines?: readonly Line[] };

/** The outcome of a command that ran to its end. */
export function done<Data>(
  outcome: Omit<Extract<CommandOutcome<Data>, { kind: 'done' }>, 'kind'>,
): Result<CommandOutcome<Data>, never> {
  return ok({ kind: 'done', ...outcome });
}

/** The first words of commands that have two. */
export const COMMAND_GROUPS = {
  session: { summary: 'view and manage recorded sessions', example: 'workrail session verify' },
  workflow: { summary: 'write, check, preview and test workflows', example: 'workrail workflow check' },
  config: { summary: 'view and change settings', example: 'workrail config list' },
  source: { summary: 'view and change where workflows come from', example: 'workrail source list' },
  space: { summary: 'view and create spaces, the separate areas of a team database', example: 'workrail space list' },
  member: { summary: 'view and change who may use a space', example: 'workrail member list' },
  token: { summary: 'create and revoke tokens that let programs use a space', example: 'workrail token list' },
  audit: { summary: 'check and export the log of who was given access', example: 'workrail audit verify' },
  store: {
    summary: 'copy sessions between a data folder and a team database',
    example: 'workrail store copy --to backup',
  },
  approvers: {
    summary: 'view and change the list of people whose signed approvals count',
    example: 'workrail approvers list',
  },
  passport: {
    summary: 'use a passport to decide whether a change may be merged',
    example: 'workrail passport check passport.json --base main',
  },
  keys: { summary: 'view and rotate the keys that sign tokens, events and passports', example: 'workrail keys status' },
} as const;
export type CommandGroup = keyof typeof COMMAND_GROUPS;

export function isCommandGroup(word: string | undefined): word is CommandGroup {
  return word !== undefined && Object.hasOwn(COMMAND_GROUPS, word);
}

/** A command in the list of commands. Its file is loaded when it is run or when its help is shown. */
export type CommandEntry = {
  /** Its name, then the operands it requires: `session keep <id...>`. */
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
};

export function commandName({ usage }: Pick<CommandEntry, 'usage'>): string {
  return usage.replace(/ <.*/, '');
}

/** The options that every command takes. */
export type Switches = {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isColorless: boolean;
};

/** In the order help shows them. */
export const SWITCHES = {
  '--json': 'print one JSON document instead of text, also for errors',
  '--quiet': 'print errors only',
  '--verbose': 'print more detail',
  '--no-color': 'print without colors (NO_COLOR does the same)',
} as const;

/** Takes the switches out of a command line, anywhere before a `--`. */
export function readSwitches(argv: readonly string[]): {
  readonly switches: Switches;
  readonly words: readonly string[];
} {
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
