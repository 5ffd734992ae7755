import * as z from 'zod';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { FoundProgram, Launch, Machine } from '../ports/machine.ts';

export const CLIENT_IDS = [
  'claude-code',
  'claude-desktop',
  'codex',
  'gemini',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'opencode',
] as const;
export type ClientId = (typeof CLIENT_IDS)[number];

/** For all of the user's work, or for one folder. */
export type ClientScope = 'user' | 'project';

/** An agent client: where it keeps its servers, and what an entry looks like there. */
export type Client = {
  readonly id: ClientId;
  readonly name: string;
  readonly hasWindow: boolean;
  /** Whether it hands on only the few variables that every program needs. */
  readonly isSparing?: true;
  readonly format: 'json' | 'toml';
  /** The key that the servers lie under. */
  readonly key: string;
  /** Its files for all of the user's work; the first that is there counts, else the first is made. */
  readonly userFiles: (machine: Machine) => readonly string[];
  /** Below the folder of a project. */
  readonly projectFile?: readonly string[];
  /** Any of these is there when the client is installed. */
  readonly signs: (machine: Machine) => readonly string[];
  readonly entry: (launch: Launch) => JsonObject;
  /** Its own command that registers a server, where it has one that fits. */
  readonly command?: {
    readonly program: string;
    readonly add: (launch: Launch, scope: ClientScope) => readonly string[] | undefined;
  };
};

/** What we are called in every client. */
export const SERVER_NAME = 'workrail';

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

const variables = z.record(z.string(), z.string());
const plainEntry = z.object({
  command: z.string(),
  args: z.array(z.string()).optional(),
  env: variables.nullish(),
});
const listedEntry = z.object({ command: z.tuple([z.string()], z.string()), environment: variables.nullish() });

/** What an entry of any client starts; `undefined` when it is no entry that starts a program. */
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
