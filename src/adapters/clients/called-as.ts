import { accessSync, constants } from 'node:fs';
import { delimiter, join, relative } from 'node:path';

type Surroundings = {
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** The script file that is running. */
  readonly program: string;
};

/** What the user has to type for `workrail`: its name, if it is on the PATH. */
export function calledAs({ env, cwd, program }: Surroundings): string {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  if (env['npm_command'] === 'exec') return 'npx workrail';
  if (folders.some((folder) => isExecutable(join(folder, 'workrail')))) return 'workrail';
  const near = relative(cwd, program);
  const path = near.startsWith('..') ? program : near;
  return `node ${/\s/.test(path) ? JSON.stringify(path) : path}`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
