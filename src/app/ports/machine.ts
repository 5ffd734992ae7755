import type { Result } from 'neverthrow';
import type { Sha256 } from '../../core/json/canonical-json.ts';

/** The machine that clients are registered on: where their files are, and how this program is started. */
export type Machine = {
  readonly platform: string;
  readonly home: string;
  /** The current working directory of the command. */
  readonly workspace: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly join: (...parts: readonly string[]) => string;
  readonly nodePath: string;
  readonly nodeVersion: string;
  /** The script file that is running. */
  readonly programPath: string;
  readonly version: string;
};

/** A program on the PATH, and the file that its name resolves to. */
export type FoundProgram = { readonly path: string; readonly realPath: string };

/** What a client starts, and which variables it adds to the environment. */
export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
};

/** The operating system refused access. `cause` is its error code. */
export type FileAccessFailure = { readonly code: 'file_failed'; readonly path: string; readonly cause: string };

/** Settings files of other programs, and our own records about them. Every write replaces the whole file at once. */
export type UserFiles = {
  /** `undefined` if the file does not exist. */
  read(path: string): Promise<Result<string | undefined, FileAccessFailure>>;
  exists(path: string): Promise<boolean>;
  /**
   * Replaces a whole file at once, unless it is read-only. A link is followed. Returns the folders that had to be
   * created, topmost first.
   */
  put(path: string, text: string): Promise<Result<readonly string[], FileAccessFailure>>;
  /** Removes a file. A link is followed. */
  remove(path: string): Promise<Result<void, FileAccessFailure>>;
  /** Removes those folders that are empty, the last one first. */
  removeEmpty(folders: readonly string[]): Promise<void>;
};

export type ProgramCall = {
  readonly path: string;
  readonly args: readonly string[];
  /** A shorter limit than the usual one. */
  readonly timeoutMs?: number;
};

/** Programs of the machine. */
export type Commands = {
  /** Every program of this name on the PATH, in the order of the PATH. */
  find(name: string): Promise<readonly FoundProgram[]>;
  /** Runs a program until it exits or the time limit passes. `said` is everything it printed. */
  run(call: ProgramCall): Promise<{ readonly exitCode: number | undefined; readonly said: string }>;
};

/** Why a file cannot be parsed or edited. Lines count from 1. */
export type FileTrouble = { readonly line: number; readonly problem: string };

/** Parses TOML. */
export type ParseToml = (text: string) => Result<{ readonly [key: string]: unknown }, FileTrouble>;

/** What registering with clients needs from outside. */
export type ClientServices = {
  readonly machine: Machine;
  readonly files: UserFiles;
  readonly commands: Commands;
  readonly sha256: Sha256;
  readonly parseToml: ParseToml;
};
