import type { FoundProgram, Machine } from '../../../ports/machine.ts';

/** What a client starts, and what it adds to the environment. */
export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
};

type LaunchFor = {
  /** A program with a window does not inherit the PATH of a shell. */
  readonly hasWindow: boolean;
  /** Every `workrail` that the shell would find. */
  readonly onPath: readonly FoundProgram[];
};

/** How a client shall start this very program. */
export function launchFor(machine: Machine, { hasWindow, onPath }: LaunchFor): Launch {
  const { nodePath, programPath } = machine;
  const carried = carriedVariables(machine);
  const isByName = !hasWindow && onPath[0]?.realPath === programPath;
  return isByName
    ? { command: 'workrail', args: ['serve'], env: carried }
    : { command: nodePath, args: [programPath, 'serve'], env: carried };
}

/**
 * What decides where data lies. Few clients hand on the variables of a shell, and all work in other folders than the
 * one we are in, so a path must not depend on that.
 */
function carriedVariables({ env, platform, workspace, join }: Machine): Launch['env'] {
  const { WORKRAIL_DATA_DIR: told = '', XDG_DATA_HOME: dataHome = '' } = env;
  const isWhole = /^(?:[~/\\]|[A-Za-z]:)/.test(told);
  if (told !== '') return { WORKRAIL_DATA_DIR: isWhole ? told : join(workspace, told) };
  return platform === 'linux' && dataHome.startsWith('/') ? { XDG_DATA_HOME: dataHome } : {};
}

/** Whether two clients start the same. */
export function isSameLaunch(a: Launch, b: Launch): boolean {
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}

function plain({ command, args, env }: Launch) {
  return [command, args, Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))];
}

/** A launch as one would type it. */
export function launchText({ command, args }: Pick<Launch, 'command' | 'args'>): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}
