import type { JsonObject } from '../../core/json/json-value.ts';
import type { Launch } from '../machine/setup/clients/launch.ts';
import type { Machine } from '../ports/machine.ts';

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
