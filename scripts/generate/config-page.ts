import { SETTING_KEYS, SETTING_NAMES, type SettingKey } from '../../src/core/settings/setting-keys.ts';
import { cell } from './markdown.ts';

const INTRODUCTION = `# Settings

Generated from \`src/core/settings\` by \`npm run generate\`; do not edit.

These are all the settings. Each is read from four places, and the last one that sets it wins:

1. the default,
2. \`~/.workrail/config.json\`, for you on this machine,
3. \`.workrail/config.json\` in the folder of a project, for the settings marked below,
4. the environment variable; an empty one is ignored.

The files are JSON and may contain comments. \`workrail config list\` shows every setting and where its value comes from,
\`workrail config set\` changes one, and \`workrail config path\` shows where the files are. An unknown name or an invalid
value is never ignored: the error names the file and line, and no server starts. Project settings are read when a run starts
in that project, machine settings when a server starts.`;

const EXAMPLE = `## Example

\`\`\`json
{
  "mode": "full_auto_stop_on_user_deps",
  "dataDir": "~/work/workrail-data",
  "log": false
}
\`\`\`

The same from the command line:

\`\`\`sh
workrail config set mode full_auto_stop_on_user_deps
workrail config list
\`\`\``;

/** The reference of all settings. */
export function configPage(): string {
  const rows = SETTING_NAMES.map((name) => {
    const key: SettingKey = SETTING_KEYS[name];
    return `| \`${name}\` | \`${key.variable}\` | ${cell(valuesOf(key))} | ${fallbackOf(key)} | ${key.isForWorkspaces ? 'yes' : 'no'} | ${cell(key.about)} |`;
  });
  const table = [
    '| Setting | Variable | Values | Default | In a project | Meaning |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
  return `${[INTRODUCTION, '## All settings', table.join('\n'), EXAMPLE].join('\n\n')}\n`;
}

function valuesOf(key: SettingKey): string {
  if (key.kind === 'switch') return '`true` or `false`; as a variable also `1` or `0`';
  return key.kind === 'choice' ? key.values.map((value) => `\`${value}\``).join(', ') : key.expected;
}

function fallbackOf({ fallback }: SettingKey): string {
  return fallback === undefined ? '–' : `\`${fallback}\``;
}
