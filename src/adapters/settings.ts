import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  type ResolvedSettings,
  resolveSettings,
  type SettingProblem,
  type SettingsLayer,
} from '../core/settings/resolve-settings.ts';

/** What decides about the settings. */
export type ConfigPlace = {
  readonly env: { readonly [name: string]: string | undefined };
  readonly home: string;
  /** The folder that the work is in, where that is known. */
  readonly workspace: string | undefined;
};

/** The files of settings, lowest first. */
export function configFiles({
  home,
  workspace,
}: Pick<ConfigPlace, 'home' | 'workspace'>): readonly SettingsLayer['origin'][] {
  const user = join(home, '.workrail', 'config.json');
  const own = workspace === undefined ? undefined : join(workspace, '.workrail', 'config.json');
  // The home folder may be a workspace, and its file is the user's all the same.
  return own === undefined || own === user
    ? [{ kind: 'user', file: user }]
    : [
        { kind: 'user', file: user },
        { kind: 'workspace', file: own },
      ];
}

/** The settings that hold, read anew. What reads a file is loaded only where there is one: most have none. */
export async function loadConfig(place: ConfigPlace): Promise<ResolvedSettings> {
  const layers: SettingsLayer[] = [];
  const problems: SettingProblem[] = [];
  for (const origin of configFiles(place)) {
    const read = readIfThere(origin.file);
    if (read === undefined) continue;
    if ('cause' in read) {
      problems.push({ code: 'unreadable_file', file: origin.file, cause: read.cause });
      continue;
    }
    const { parseSettingsFile: parseConfigFile } = await import('../core/settings/settings-file.ts');
    const parsed = parseConfigFile(read.text, origin);
    layers.push(parsed.layer);
    problems.push(...parsed.problems);
  }
  const resolved = resolveSettings(layers, place.env);
  return { ...resolved, problems: [...problems, ...resolved.problems] };
}

function readIfThere(file: string): { readonly text: string } | { readonly cause: string } | undefined {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && typeof cause.code === 'string')) throw cause;
    return cause.code === 'ENOENT' || cause.code === 'ENOTDIR' ? undefined : { cause: cause.code };
  }
}

/** The settings of this process, for a workspace or for none. */
export function loadOwnConfig(workspace: string | undefined): Promise<ResolvedSettings> {
  return loadConfig({ env: process.env, home: homedir(), workspace });
}
