import type { Result } from 'neverthrow';
import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { ParseToml } from '../clients/edit/toml-editor.ts';

/** The machine that clients are registered on: all that decides where their files lie and how we are started. */
export type Machine = {
  readonly platform: string;
  readonly home: string;
  /** The folder that the command is typed in. */
  readonly workspace: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly join: (...parts: readonly string[]) => string;
  readonly nodePath: string;
  readonly nodeVersion: string;
  /** The file that is running. */
  readonly programPath: string;
  readonly version: string;
};

/** A program that the shell would find, and the file that its name leads to. */
export type FoundProgram = { readonly path: string; readonly realPath: string };

/** Where a program keeps its settings by the custom of the platform. */
export function settingsFolder({ platform, env, home, join }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return dotConfig({ env, home, join });
}

/** The folder that programs of the terminal use on every platform. */
export function dotConfig({ env, home, join }: Pick<Machine, 'env' | 'home' | 'join'>): string {
  const told = env['XDG_CONFIG_HOME'];
  return told?.startsWith('/') ? told : join(home, '.config');
}

/** A path as a person reads it: with a tilde for the home folder. */
export function shortPath({ home, join }: Pick<Machine, 'home' | 'join'>, path: string): string {
  return path.startsWith(join(home, 'x').slice(0, -1)) ? `~${path.slice(home.length)}` : path;
}

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
