import { SETTING_KEYS, SETTING_NAMES, type SettingKey, settingText } from '../../src/core/settings/setting-keys.ts';
import { cell } from './markdown.ts';

const INTRODUCTION = `# Settings

Generated from \`src/core/settings\` by \`npm run generate\`; do not edit.

These are all the settings. Each is read from four places, and the last one that sets it wins:

1. the default,
2. \`~/.workrail/config.json\`, for you on this machine,
3. \`.workrail/config.json\` in the folder of a project and in each folder above it, up to the top of its repository, for the settings marked below,
4. the environment variable; an empty one is ignored.

Settings about what an agent may do (\`mode\`, \`riskPolicy\`, \`autonomy.max\` and \`gates.*\`) are different: there the
tightest value applies, and a missing value in your own file means the default. A project or the environment can make them
stricter, never looser; a looser value is ignored with a warning that names its file. \`workrail config set\` loosens one of them
only in a terminal and asks you to type a code; nothing replaces that. Someone who can edit \`~/.workrail/config.json\` by hand
can still loosen them, so keep that file to yourself.

The files are JSON and may contain comments. \`workrail config list\` shows every setting and where its value comes from,
\`workrail config set\` changes one, and \`workrail config path\` shows where the files are. An invalid
value is never ignored: the error names the file and line, and no run starts there. An unknown name is ignored with a
warning. A file must be a regular file of at most 1 MiB; that of a project must not be a link out of it. Project settings are
read when a run starts in that project, machine settings when a server starts.`;

const EXAMPLE = `## Example

\`\`\`json
{
  "mode": "full_auto_stop_on_user_deps",
  "gates.minimum": "confirmed",
  "dataDir": "~/work/workrail-data",
  "log": false
}
\`\`\`

The same from the command line:

\`\`\`sh
workrail config set gates.minimum confirmed
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
  return key.kind === 'choice' || key.kind === 'list'
    ? key.values.map((value) => `\`${value}\``).join(', ')
    : key.expected;
}

function fallbackOf({ fallback }: SettingKey): string {
  return fallback === undefined ? '–' : `\`${settingText(fallback)}\``;
}
