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

/** The name of our entry in every client. */
export const SERVER_NAME = 'workrail';

type LaunchFor = {
  /** A desktop program does not inherit the PATH of a shell. */
  readonly hasWindow: boolean;
  /** Every `workrail` on the PATH. */
  readonly onPath: readonly FoundProgram[];
};

/** How a client should start this program. */
export function launchFor(machine: Machine, { hasWindow, onPath }: LaunchFor): Launch {
  const { nodePath, programPath } = machine;
  const carried = carriedVariables(machine);
  const isByName = !hasWindow && onPath[0]?.realPath === programPath;
  return isByName
    ? { command: 'workrail', args: ['serve'], env: carried }
    : { command: nodePath, args: [programPath, 'serve'], env: carried };
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
