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
