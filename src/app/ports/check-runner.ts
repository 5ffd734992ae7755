import type { Result } from 'neverthrow';
import type { TestReport } from '../../core/run/evidence/test-report.ts';

/** How a command ended. Without an exit code, a signal ended it. */
export type CommandEnd = {
  readonly exitCode: number | null;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
};

export type CommandWork = {
  readonly command: string;
  readonly folder: string;
  readonly timeoutMs: number;
  /** `tap`, or the path of a JUnit XML file. */
  readonly report?: string | undefined;
  /** Receives everything that the command prints, at once. */
  readonly onOutput: (chunk: Uint8Array) => Promise<void>;
};

export type CommandResult = CommandEnd & {
  /** The last part of what it printed. */
  readonly tail: string;
  readonly report?: TestReport;
};

/** The base of a check: a commit with the tests of the work laid over it. */
export type BaseWork = {
  readonly folder: string;
  readonly sha: string;
  /** Patterns of the test files. */
  readonly tests: readonly string[];
  /** Ignored folders that the base needs too. */
  readonly link: readonly string[];
};

export type BaseRefusal = { readonly code: 'base_unavailable'; readonly cause: string };

/** Runs the commands of checks. */
export type CheckRunner = {
  /** Runs a command in a process group of its own, which is killed at the limit. */
  run(work: CommandWork): Promise<CommandResult>;
  /** Makes a throw-away worktree of the base, and removes it afterwards. */
  withBase<Value>(base: BaseWork, act: (folder: string) => Promise<Value>): Promise<Result<Value, BaseRefusal>>;
};

/** A command that a person confirmed for a workspace. */
export type ConfirmedCommand = { readonly command: string; readonly workspace: string };

/** The commands that a person on this machine has confirmed. */
export type CommandConfirmations = {
  has(command: ConfirmedCommand): Promise<boolean>;
  add(command: ConfirmedCommand): Promise<void>;
};
