import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

type Environment = { readonly [name: string]: string | undefined };

/** Where everything durable lies: as told, else where the platform keeps a program's data. */
export function dataDir(env: Environment, platform: NodeJS.Platform): string {
  const told = env['WORKRAIL_DATA_DIR'];
  if (told !== undefined && told !== '') return resolve(withoutTilde(told));
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'workrail');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'workrail');
  const xdg = env['XDG_DATA_HOME'];
  return join(xdg?.startsWith('/') ? xdg : join(homedir(), '.local', 'share'), 'workrail');
}

/** A shell puts the home folder there; a client's configuration file does not. */
function withoutTilde(path: string): string {
  return /^~(?:[\\/]|$)/.test(path) ? join(homedir(), path.slice(1)) : path;
}
