import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A browser that is there already: the one that `CHROMIUM_PATH` names, or the first on the path. */
export function findChromium(env: NodeJS.ProcessEnv): string | undefined {
  const named = env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return named;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
