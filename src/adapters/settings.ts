import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Result } from 'neverthrow';
import type { StoreLimit } from '../app/ports/store-failure.ts';
import {
  type ResolvedSettings,
  resolveSettings,
  type SettingProblem,
  type SettingsLayer,
  type UnknownSetting,
} from '../core/settings/resolve-settings.ts';
import type { TokenForm } from '../core/token/token.ts';
import { projectFolders, realFolder } from './checks/folders-above.ts';
import { CONFIG_BYTES_MAX, dataDir } from './data-dir.ts';
import { type GuardedFailure, readGuarded } from './guarded-file.ts';

/** What the settings depend on. */
export type ConfigPlace = {
  readonly env: { readonly [name: string]: string | undefined };
  readonly home: string;
  /** The folders that the settings are for. Each counts with all above it up to the top of its repository. */
  readonly folders: readonly string[];
};

/** The settings files, lowest precedence first. */
export function configFiles({
  home,
  folders,
}: Pick<ConfigPlace, 'home' | 'folders'>): readonly SettingsLayer['origin'][] {
  const fileIn = (folder: string) => join(folder, '.workrail', 'config.json');
  // The home folder may be the workspace, or a repository around it; its file is then the user's.
  const homes = [home, realFolder(home)];
  const projects = projectFolders(folders).filter((folder) => !homes.includes(folder));
  return [
    { kind: 'user', file: fileIn(home) },
    ...projects.map((folder) => ({ kind: 'workspace', file: fileIn(folder) }) as const),
  ];
}

/** The current settings. The parser is loaded only if there is a file: most users have none. */
export async function loadConfig(place: ConfigPlace): Promise<ResolvedSettings> {
  const layers: SettingsLayer[] = [];
  const problems: SettingProblem[] = [];
  for (const origin of configFiles(place)) {
    const read = await readText(origin);
    if (read.isErr()) problems.push({ code: 'unreadable_file', file: origin.file, cause: read.error.cause });
    const text = read.unwrapOr(undefined);
    if (text === undefined) continue;
    const { parseSettingsFile } = await import('../core/settings/settings-file.ts');
    const parsed = parseSettingsFile(text, origin);
    layers.push(parsed.layer);
    problems.push(...parsed.problems);
  }
  const resolved = resolveSettings(layers, place.env);
  const [unknown, wrong] = [problems.filter(isUnknown), problems.filter((problem) => !isUnknown(problem))];
  return { ...resolved, ignored: [...unknown, ...resolved.ignored], problems: [...wrong, ...resolved.problems] };
}

/** Nothing depends on it, so it is no reason to stop. */
function isUnknown(problem: SettingProblem): problem is UnknownSetting {
  return problem.code === 'unknown_key';
}

/** The user may keep the file elsewhere and link to it; a project may not. */
async function readText({ kind, file }: SettingsLayer['origin']): Promise<Result<string | undefined, GuardedFailure>> {
  const within = kind === 'workspace' ? { within: dirname(dirname(file)) } : {};
  const read = await readGuarded(file, { bytesMax: CONFIG_BYTES_MAX, ...within });
  return read.map((bytes) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes)));
}

/** The settings of this process: the tightest for these folders, or without any. */
export function loadOwnConfig(folders: readonly string[]): Promise<ResolvedSettings> {
  return loadConfig({ env: process.env, home: homedir(), folders });
}

/** The settings of a server, besides its data folder. */
export type Settings = {
  readonly tokenForm: TokenForm;
  /** Whether the server logs to standard error. */
  readonly isLogged: boolean;
  /** Whether agents may start a session without a workflow. */
  readonly isSessionStartOn: boolean;
};

export function settingsOf({ settings }: Pick<ResolvedSettings, 'settings'>): Settings {
  return {
    tokenForm: settings.tokenFormat.value === 'v1' ? 'json' : 'compact',
    isLogged: settings.log.value === true,
    isSessionStartOn: settings.startSession.value === true,
  };
}

/** How much may be stored. It is read while a server runs, so raising it needs no restart. */
export async function ownStoreLimits(): Promise<{ readonly [limit in StoreLimit]: number }> {
  const { settings } = await loadOwnConfig([]);
  const [session, daily] = [settings['store.sessionMiB'], settings['store.dailyMiB']];
  return { 'store.sessionMiB': Number(session.value), 'store.dailyMiB': Number(daily.value) };
}

/** The data folder of this machine. */
export async function findDataDir(): Promise<string> {
  const { value } = (await loadOwnConfig([])).settings.dataDir;
  return dataDir(
    typeof value === 'string' ? { ...process.env, WORKRAIL_DATA_DIR: value } : process.env,
    process.platform,
  );
}
