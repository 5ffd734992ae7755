import { ownJsonBytes, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import type { AppliedSetting, ConfigServersData, ServerRecord } from '../wire/machine-shapes.ts';
import type { ResolvedSettings } from './resolve-settings.ts';
import { SETTING_KEYS, SETTING_NAMES, type SettingKey, type SettingName, settingText } from './setting-keys.ts';

/** Whether a server has to be restarted before a change of the setting has an effect. */
export function needsRestart(name: SettingName): boolean {
  const key: SettingKey = SETTING_KEYS[name];
  return key.isReadAtStart === true;
}

/** What a server applies when it starts with these settings. All others are read again with each call. */
export function appliedSettings({ settings }: Pick<ResolvedSettings, 'settings'>, dataDir: string): AppliedSetting[] {
  return SETTING_NAMES.filter(needsRestart).map((key) => {
    const { value, origin } = settings[key];
    return { key, value: key === 'dataDir' ? dataDir : (value ?? ''), origin };
  });
}

/** Two servers with the same hash were started with the same settings. */
export function appliedConfigHash(applied: readonly AppliedSetting[], sha256: Sha256): Sha256Digest {
  return sha256(ownJsonBytes(Object.fromEntries(applied.map(({ key, value }) => [key, value]))));
}

type Server = ConfigServersData['servers'][number];

/** What a running server applied, beside what it would apply if it started now. */
export function serverStanding({ v: _, ...record }: ServerRecord, desired: readonly AppliedSetting[]): Server {
  const changes = record.applied.flatMap(({ key, value, origin }) => {
    const wanted = desired.find((one) => one.key === key);
    // The client sets the variable again when it starts the server again.
    if (wanted === undefined || origin.kind === 'variable') return [];
    return settingText(wanted.value) === settingText(value) ? [] : [{ key, applied: value, desired: wanted.value }];
  });
  return { ...record, changes, needsRestart: changes.length > 0, restart: restartText(record) };
}

/** By words in the name that a client gives itself. */
const RESTARTS: readonly (readonly [name: RegExp, words: string])[] = [
  [/claude[ -]?code/i, 'In Claude Code, type /mcp, choose workrail and reconnect.'],
  [/claude/i, 'Quit Claude Desktop completely and open it again.'],
  [/codex/i, 'End this Codex session and start a new one.'],
  [/gemini/i, 'In Gemini CLI, type /mcp refresh, or start it again.'],
  [/cursor/i, 'In Cursor, switch workrail off and on again under Settings, MCP.'],
  [/visual studio code|vscode|copilot/i, 'In VS Code, run "MCP: List Servers", choose workrail and restart it.'],
  [/windsurf/i, 'In Windsurf, refresh the list of MCP servers.'],
  [/zed/i, 'In Zed, restart the workrail context server in the agent settings.'],
  [/opencode/i, 'End this opencode session and start a new one.'],
];

function restartText({ client, transport, pid, port }: Omit<ServerRecord, 'v'>): string {
  if (transport === 'http') return `Stop process ${pid} and run again: workrail serve --http ${port ?? ''}`.trim();
  const known = RESTARTS.find(([name]) => name.test(client?.name ?? ''));
  return known?.[1] ?? 'Restart the agent client, or the chat that started this server.';
}

/** `Claude Code (process 4711)`, or only the process if the client gave no name. */
export function serverName({ client, pid }: Pick<Server, 'client' | 'pid'>): string {
  return client === undefined ? `process ${pid}` : `${client.name} (process ${pid})`;
}

/** What a restart would change, in words. */
export function changesText({ changes }: Pick<Server, 'changes'>): string {
  return changes
    .map(({ key, applied, desired }) => `${key} is ${settingText(applied)} there and set to ${settingText(desired)}`)
    .join(', ');
}
