import { SETTING_KEYS, SETTING_NAMES, type SettingKey } from '../../src/core/settings/setting-keys.ts';
import { cell } from './markdown.ts';

const INTRODUCTION = `# Settings

Generated from \`src/core/machine/config\` by \`npm run generate\`; do not edit.

These are all the settings there are. Each is looked for in four places, and the last that says something wins:

1. the default,
2. \`~/.workrail/config.json\`, yours on this machine,
3. \`.workrail/config.json\` in the folder of a project, for the settings marked below,
4. the environment variable; an empty one counts as none.

The files are JSON, and comments are welcome. \`workrail config list\` shows every setting with where it comes from,
\`workrail config set\` changes one, \`workrail config path\` tells where the files are. A name or value that means nothing
is never passed over: the file and line are named, and no server starts. Settings of a project are read when a run starts
there, those of the machine when a server starts.`;

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
