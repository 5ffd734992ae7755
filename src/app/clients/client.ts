import * as z from 'zod';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { CLIENT_IDS } from '../../core/wire/machine-shapes.ts';
import type { FoundProgram, Launch, Machine } from '../ports/machine.ts';

export type ClientId = (typeof CLIENT_IDS)[number];

/** Registered for all of the user's work, or for one folder. */
export type ClientScope = 'user' | 'project';

/** An agent client: where it lists its servers, and the shape of an entry. */
export type Client = {
  readonly id: ClientId;
  readonly name: string;
  readonly hasWindow: boolean;
  /** Whether it passes only a few standard variables on to a server. */
  readonly isSparing?: true;
  readonly format: 'json' | 'toml';
  /** The key of the server list. */
  readonly key: string;
  /** Candidates for the user's file. The first that exists is used; otherwise the first is created. */
  readonly userFiles: (machine: Machine) => readonly string[];
  /** Relative to the project folder. */
  readonly projectFile?: readonly string[];
  /** The client is installed if any of these exists. */
  readonly signs: (machine: Machine) => readonly string[];
  readonly entry: (launch: Launch) => JsonObject;
  /** The client's own command that registers a server, if it has a suitable one. */
  readonly command?: {
    readonly program: string;
    readonly add: (launch: Launch, scope: ClientScope) => readonly string[] | undefined;
  };
};

/** How people install the program; it is handed out as a file, because nobody owns the name in a registry yet. */
export const INSTALL_COMMAND = 'npm install -g ./workrail-VERSION.tgz (the tarball that "npm run package" makes)';

/** The name of our entry in every client. */
export const SERVER_NAME = 'workrail';

/**
 * Registrations that are the same on every machine, so that a team can commit them: the command by its name, or the
 * package that the project depends on. The package runner gets `--no`, so that it never downloads a package of that name.
 */
const SHARED_LAUNCHES = {
  path_command: { command: 'workrail', args: [] },
  package_runner: { command: 'npx', args: ['--no', '--', 'workrail'] },
} as const satisfies { readonly [form: string]: Omit<Launch, 'env'> };

/** How a project's registration starts WorkRail; `this_machine` contains paths and cannot be committed. */
export type LaunchForm = keyof typeof SHARED_LAUNCHES | 'this_machine';

/** The command that clients run: the server of this machine. */
export const SERVE = ['serve'] as const;

/** The command for clients whose sessions are kept by a team server: the bridge to a space. */
export function bridgeTo(space: string): readonly string[] {
  return ['connect', space];
}

/** The space that a registration leads to; `undefined` for one that starts the server of this machine. */
export function spaceOf({ args }: Launch): string | undefined {
  return args.at(-2) === 'connect' ? args.at(-1) : undefined;
}

export function launchForm(launch: Launch): LaunchForm {
  const words = spaceOf(launch) === undefined ? SERVE : launch.args.slice(-2);
  if (isSameLaunch(launch, sharedLaunch('path_command', words))) return 'path_command';
  return isSameLaunch(launch, sharedLaunch('package_runner', words)) ? 'package_runner' : 'this_machine';
}

function sharedLaunch(form: keyof typeof SHARED_LAUNCHES, words: readonly string[]): Launch {
  const { command, args } = SHARED_LAUNCHES[form];
  return { command, args: [...args, ...words], env: {} };
}

type LaunchFor = {
  /** A desktop program does not inherit the PATH of a shell. */
  readonly hasWindow: boolean;
  readonly scope: ClientScope;
  /** Every `workrail` on the PATH. */
  readonly onPath: readonly FoundProgram[];
  /** The command of this program that it should run. */
  readonly words: readonly string[];
};

/** How a client should start this program. */
export function launchFor(machine: Machine, { hasWindow, scope, onPath, words }: LaunchFor): Launch {
  const { nodePath, programPath } = machine;
  if (scope === 'project') {
    if (programPath.startsWith(machine.join(machine.workspace, 'node_modules', 'workrail'))) {
      return sharedLaunch('package_runner', words);
    }
    if (onPath.length > 0) return sharedLaunch('path_command', words);
  }
  // A bridge has no data folder.
  const carried = words === SERVE ? carriedVariables(machine) : {};
  const isByName = !hasWindow && onPath[0]?.realPath === programPath;
  return isByName
    ? { command: 'workrail', args: words, env: carried }
    : { command: nodePath, args: [programPath, ...words], env: carried };
}

/**
 * Variables that decide where the data folder is. Few clients pass on the variables of a shell, and all run in other
 * folders, so a path must be absolute.
 */
function carriedVariables({ env, platform, workspace, join }: Machine): Launch['env'] {
  const { WORKRAIL_DATA_DIR: given = '', XDG_DATA_HOME: dataHome = '' } = env;
  const isWhole = /^(?:[~/\\]|[A-Za-z]:)/.test(given);
  if (given !== '') return { WORKRAIL_DATA_DIR: isWhole ? given : join(workspace, given) };
  return platform === 'linux' && dataHome.startsWith('/') ? { XDG_DATA_HOME: dataHome } : {};
}

/** Whether two launches are the same. */
export function isSameLaunch(a: Launch, b: Launch): boolean {
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}

function plain({ command, args, env }: Launch) {
  return [command, args, Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))];
}

/** A launch as a command line. */
export function launchText({ command, args }: Pick<Launch, 'command' | 'args'>): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

const variables = z.record(z.string(), z.string());
const plainEntry = z.object({
  command: z.string(),
  args: z.array(z.string()).optional(),
  env: variables.nullish(),
});
const listedEntry = z.object({ command: z.tuple([z.string()], z.string()), environment: variables.nullish() });

/** What an entry of any client starts; `undefined` if it does not start a program. */
export function registeredLaunch(entry: unknown): Launch | undefined {
  const plain = plainEntry.safeParse(entry);
  if (plain.success) return { command: plain.data.command, args: plain.data.args ?? [], env: plain.data.env ?? {} };
  const listed = listedEntry.safeParse(entry);
  if (!listed.success) return undefined;
  const [command, ...args] = listed.data.command;
  return { command, args, env: listed.data.environment ?? {} };
}

/** A path with a tilde for the home folder. */
export function shortPath({ home, join }: Pick<Machine, 'home' | 'join'>, path: string): string {
  return path.startsWith(join(home, 'x').slice(0, -1)) ? `~${path.slice(home.length)}` : path;
}
