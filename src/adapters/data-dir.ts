import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { shellWord } from '../core/text/words.ts';
import { readRegular } from './guarded-file.ts';

type Environment = { readonly [name: string]: string | undefined };

/** The data folder: as configured, or the platform's default place for program data. */
export function dataDir(env: Environment, platform: NodeJS.Platform): string {
  const given = env['WORKRAIL_DATA_DIR'];
  if (given !== undefined && given !== '') return resolve(withoutTilde(given));
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'workrail');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'workrail');
  const xdg = env['XDG_DATA_HOME'];
  return join(xdg?.startsWith('/') ? xdg : join(homedir(), '.local', 'share'), 'workrail');
}

/** A shell expands the tilde; a client's configuration file does not. */
function withoutTilde(path: string): string {
  return /^~(?:[\\/]|$)/.test(path) ? join(homedir(), path.slice(1)) : path;
}

/** The data folder as a word for a shell; `undefined` if it is where data is kept unless somebody says otherwise. */
export function otherDataDir(used: string): string | undefined {
  const { WORKRAIL_DATA_DIR: _, ...env } = process.env;
  return used === dataDir(env, process.platform) ? undefined : shellWord(used);
}

/** Far more than all settings together. */
export const CONFIG_BYTES_MAX = 2 ** 20;

/**
 * Where the data is, as far as one can tell before the code that reads settings is loaded. If somebody wrote comments
 * into the settings, compiled code is looked for in the default place.
 */
export function likelyDataDir({ env, platform }: Pick<NodeJS.Process, 'env' | 'platform'>): string {
  return dataDir({ WORKRAIL_DATA_DIR: configuredDataDir(), ...env }, platform);
}

function configuredDataDir(): string | undefined {
  try {
    const text = readRegular(join(homedir(), '.workrail', 'config.json'), 0, CONFIG_BYTES_MAX).toString();
    const { dataDir: given } = JSON.parse(text) as { readonly dataDir?: unknown };
    return typeof given === 'string' ? given : undefined;
  } catch {
    return undefined;
  }
}
