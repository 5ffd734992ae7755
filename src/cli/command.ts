import type { Result } from 'neverthrow';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Line } from './output/line.ts';
import type { Progress } from './output/progress.ts';
import type { Program } from './program.ts';
import type { Switches } from './switches.ts';

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
