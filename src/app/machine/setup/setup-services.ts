import type { Result } from 'neverthrow';
import type { Sha256 } from '../../../core/json/canonical-bytes.ts';
import type { ParseToml } from '../../clients/edit/toml-editor.ts';
import type { FoundProgram, Machine } from '../../ports/machine.ts';

/** The system refused, in its own word. */
export type FileAccessFailure = { readonly code: 'file_failed'; readonly path: string; readonly cause: string };

/** Files of other programs, and our own notes about them. Nothing is ever half written. */
export type UserFiles = {
  /** `undefined` when there is no such file. */
  read(path: string): Promise<Result<string | undefined, FileAccessFailure>>;
  /** Whether anything of that name is there. */
  isThere(path: string): Promise<boolean>;
  /**
   * Puts a whole file in place at once, through a link too, unless it is read-only. Gives the folders that had to be
   * made, topmost first.
   */
  put(path: string, text: string): Promise<Result<readonly string[], FileAccessFailure>>;
  /** Of a link, what it leads to. */
  remove(path: string): Promise<Result<void, FileAccessFailure>>;
  /** Removes those folders that are empty, the last one first. */
  removeEmpty(folders: readonly string[]): Promise<void>;
};

export type RunOf = {
  readonly path: string;
  readonly args: readonly string[];
  /** How long it may take, where that is less than usual. */
  readonly timeoutMs?: number;
};

/** Programs of the machine. */
export type Commands = {
  /** All that the shell would find under a name, in its order. */
  find(name: string): Promise<readonly FoundProgram[]>;
  /** Runs a program to its end, or until it takes too long. Tells its exit code and the last it said. */
  run(command: RunOf): Promise<{ readonly exitCode: number | undefined; readonly said: string }>;
};

/** What registering needs from outside. */
export type ClientServices = {
  readonly machine: Machine;
  readonly files: UserFiles;
  readonly commands: Commands;
  readonly sha256: Sha256;
  readonly parseToml: ParseToml;
};
