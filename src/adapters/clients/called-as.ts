import { accessSync, constants } from 'node:fs';
import { delimiter, join, relative } from 'node:path';

type Surroundings = {
  readonly env: { readonly [name: string]: string | undefined };
  /** Without it the path of the program is absolute, for text that is read elsewhere. */
  readonly cwd?: string | undefined;
  /** The script file that is running. */
  readonly program: string;
};

/** What the user has to type for `workrail`: its name, if it is on the PATH. npx must not fetch a package of that name. */
export function calledAs({ env, cwd, program }: Surroundings): string {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  if (env['npm_command'] === 'exec') return 'npx --no workrail';
  if (folders.some((folder) => isExecutable(join(folder, 'workrail')))) return 'workrail';
  const near = cwd === undefined ? '..' : relative(cwd, program);
  const path = near.startsWith('..') ? program : near;
  return `node ${/\s/.test(path) ? JSON.stringify(path) : path}`;
}

const COMMAND_LENGTH_MAX = 160;

/** The same for a reply, with the data folder, as a word for a shell, where it is not the default one. */
export function commandInReplies({ env, program }: Surroundings, dataDir: string | undefined): string {
  const command = calledAs({ env, program });
  const whole = dataDir === undefined ? command : `WORKRAIL_DATA_DIR=${dataDir} ${command}`;
  // Replies have little room, and commands stand between backticks.
  return [whole, command].find((one) => one.length <= COMMAND_LENGTH_MAX && !one.includes('`')) ?? 'workrail';
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder that the program was started in; '' if it was removed since: then there is no workspace. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
