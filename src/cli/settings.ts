import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { shortPath } from '../app/clients/client.ts';
import { type SetConfigRefusal, setConfig } from '../app/settings.ts';
import type { ResolvedSettings } from '../core/settings/resolve-settings.ts';
import {
  isSettingName,
  isSettingValue,
  SETTING_KEYS,
  SETTING_NAMES,
  type SettingName,
  valueOfText,
} from '../core/settings/setting-keys.ts';
import { configHash, defaultPreferences } from '../core/settings/settings-in-effect.ts';
import { configProblemText, originText } from '../core/settings/settings-words.ts';
import { nearest } from '../core/text/spelling.ts';
import { type CommandProblem, EXIT, type ExitCode, type RunCommand } from './command.ts';
import { commandShape } from './command-shape.ts';
import type { Line } from './output/line.ts';

export const configGet: RunCommand = async ({ program, say }, { operands }) => {
  const [asked = ''] = operands;
  if (!isSettingName(asked)) return err(unknownSetting(asked));
  const { config: load } = await program.setup();
  const config = await load();
  const data = shownSettings(config, await program.dataDir()).find(({ key }) => key === asked);
  if (data === undefined) return err(unknownSetting(asked));
  const problems = config.problems.map(configProblemText);
  say([{ text: `from: ${originText(data.origin)}`, style: 'dim' }]);
  return ok({
    kind: 'done',
    data,
    lines: [[String(data.value)]],
    ...(problems.length === 0 ? {} : { problem: wrongSettings(problems) }),
    next: 'workrail config list',
  });
};

export const configSet: RunCommand = async ({ program }, { operands, options }) => {
  const [key = '', text] = operands;
  if (!isSettingName(key)) return err(unknownSetting(key));
  const isUnset = options['unset'] === true;
  if ((text === undefined) !== isUnset) return err(valueMissing(key));
  const value = text === undefined ? undefined : valueOfText(key, text);
  if (text !== undefined && !isSettingValue(key, value)) return err(wrongValue(key, text));
  const isProject = options['project'] === true;
  if (isProject && !SETTING_KEYS[key].isForWorkspaces) return err(notForWorkspaces(key));

  const { config, configFiles, files } = await program.setup();
  const origin = configFiles.find(({ kind }) => kind === (isProject ? 'workspace' : 'user'));
  if (origin === undefined) return err(isWorkspaceless());
  const set = await setConfig(files, { origin, key, value });
  if (set.isErr()) return err(notSet(set.error));
  const data: ConfigSetData = { key, value: value ?? null, file: origin.file, isChanged: set.value };
  const now = (await config()).settings[key];
  const isOverruled = now.origin.kind === 'variable' || (now.origin.kind === 'workspace' && !isProject);
  return ok({
    kind: 'done',
    data,
    lines: [
      [set.value ? `${key} is ${isUnset ? 'no longer set' : String(value)} in ${origin.file}.` : 'It is so already.'],
      ...(isOverruled ? [overruled(now.origin)] : []),
    ],
    next: `workrail config get ${key}`,
  });
};

function overruled(origin: { readonly kind: string; readonly name?: string; readonly file?: string }): Line {
  return [{ text: `${origin.name ?? origin.file ?? ''} says otherwise, and wins.`, style: 'notable' }];
}

export const configList: RunCommand = async ({ program, switches }) => {
  const { config: load, sha256, machine } = await program.setup();
  const config = await load();
  const problems = config.problems.map(configProblemText);
  const settings = [...shownSettings(config, await program.dataDir())];
  const data: ConfigListData = { settings, hash: configHash(config, sha256), problems };
  return ok({
    kind: 'done',
    data,
    lines: settings.flatMap((setting) =>
      settingLines(setting, {
        all: settings,
        isVerbose: switches.isVerbose,
        short: (path) => shortPath(machine, path),
      }),
    ),
    ...(problems.length === 0 ? {} : { problem: wrongSettings(problems) }),
    next: problems.length === 0 ? 'workrail config set mode full_auto_stop_on_user_deps' : 'workrail config path',
  });
};

type Shown = {
  readonly all: readonly ShownSetting[];
  readonly isVerbose: boolean;
  readonly short: (path: string) => string;
};

function settingLines({ key, value, origin }: ShownSetting, { all, isVerbose, short }: Shown): readonly Line[] {
  const [keys, values] = [all.map((one) => one.key.length), all.map((one) => short(String(one.value)).length)];
  const head: Line = [
    { text: key.padEnd(Math.max(...keys)), style: 'strong' },
    `  ${short(String(value)).padEnd(Math.max(...values))}  `,
    { text: short(originText(origin)), style: 'dim' },
  ];
  return isVerbose ? [head, [{ text: `  ${SETTING_KEYS[key].about}`, style: 'dim' }]] : [head];
}

export const configPath: RunCommand = async ({ program }) => {
  const { configFiles, files } = await program.setup();
  const shown: readonly ShownConfigFile[] = await Promise.all(
    configFiles.map(async ({ kind, file }) => ({ kind, file, isThere: await files.exists(file) })),
  );
  return ok({
    kind: 'done',
    data: { files: shown },
    lines: shown.map(({ kind, file, isThere }) => [
      `${kind.padEnd('workspace'.length)}  ${file}`,
      { text: isThere ? '' : '  (not there)', style: 'dim' },
    ]),
    next: 'workrail config list',
  });
};

/** Every setting as it takes effect; where the default depends on something else, what it comes to. */
function shownSettings(config: ResolvedSettings, dataDir: string): readonly ShownSetting[] {
  const inEffect: { readonly [name in SettingName]?: string } = {
    dataDir,
    riskPolicy: defaultPreferences(config).riskPolicy,
  };
  return SETTING_NAMES.map((key) => {
    const { value, origin } = config.settings[key];
    return { key, value: value ?? inEffect[key] ?? '', origin };
  });
}

function unknownSetting(asked: string): CommandProblem {
  const meant = nearest(asked, SETTING_NAMES);
  const known = `The settings are ${SETTING_NAMES.join(', ')}.`;
  return problem(
    EXIT.usage,
    `There is no setting "${asked}".`,
    meant === undefined ? known : `Did you mean ${meant}? ${known}`,
  );
}

function wrongValue(key: SettingName, asked: string): CommandProblem {
  return problem(EXIT.usage, `"${asked}" means nothing for ${key}.`, `It may be ${SETTING_KEYS[key].expected}.`);
}

function valueMissing(key: SettingName): CommandProblem {
  return problem(
    EXIT.usage,
    `What shall ${key} be?`,
    `Type a value behind it: ${SETTING_KEYS[key].expected}; or --unset.`,
  );
}

function notForWorkspaces(key: SettingName): CommandProblem {
  return problem(
    EXIT.usage,
    `${key} is for the user of a machine to set, not for a workspace.`,
    'Leave --project out.',
  );
}

function isWorkspaceless(): CommandProblem {
  return problem(
    EXIT.usage,
    'This folder is your home folder, which is no project.',
    'Leave --project out, or type it in a project.',
  );
}

function notSet(refusal: SetConfigRefusal): CommandProblem {
  return refusal.code === 'broken_file'
    ? problem(EXIT.failed, configProblemText(refusal), 'Put that right first; nothing was changed.')
    : problem(
        EXIT.failed,
        `${refusal.path} could not be written (${refusal.cause}).`,
        'Check its permissions and the free space.',
      );
}

function wrongSettings(sentences: readonly string[]): CommandProblem {
  return problem(EXIT.checkFailed, sentences.join(' '), 'Put that right: until then no server starts.');
}

function problem(exitCode: ExitCode, message: string, suggestion: string): CommandProblem {
  return { exitCode, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } } };
}

const key = z.enum(SETTING_NAMES as readonly [SettingName, ...SettingName[]]);
const origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('default') }),
  z.strictObject({ kind: z.enum(['user', 'workspace']), file: z.string() }),
  z.strictObject({ kind: z.literal('variable'), name: z.string() }),
]);
const setting = z.strictObject({ key, value: z.union([z.string(), z.boolean()]), origin });
type ShownSetting = z.infer<typeof setting>;

const file = z.strictObject({ kind: z.enum(['user', 'workspace']), file: z.string(), isThere: z.boolean() });
type ShownConfigFile = z.infer<typeof file>;

const listData = z.strictObject({
  settings: z.array(setting),
  /** A name for the values in effect. */
  hash: z.string(),
  problems: z.array(z.string()),
});
type ConfigListData = z.infer<typeof listData>;

const setData = z.strictObject({
  key,
  /** Null when the setting was taken out. */
  value: z.union([z.string(), z.boolean()]).nullable(),
  file: z.string(),
  isChanged: z.boolean(),
});
type ConfigSetData = z.infer<typeof setData>;

export const configGetShape = commandShape('config get', setting);
export const configListShape = commandShape('config list', listData);
export const configPathShape = commandShape('config path', z.strictObject({ files: z.array(file) }));
export const configSetShape = commandShape('config set', setData);
