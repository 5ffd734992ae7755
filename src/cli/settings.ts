import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { shortPath } from '../app/clients/client.ts';
import { loosenedBy, type SetConfigRefusal, setConfig } from '../app/settings.ts';
import {
  appliedConfigHash,
  appliedSettings,
  changesText,
  serverName,
  serverStanding,
} from '../core/settings/applied-settings.ts';
import type { ResolvedSettings } from '../core/settings/resolve-settings.ts';
import {
  isSettingName,
  SETTING_KEYS,
  SETTING_NAMES,
  type SettingName,
  type SettingValue,
  settingText,
  valueOfText,
} from '../core/settings/setting-keys.ts';
import { configHash, runDefaults } from '../core/settings/settings-in-effect.ts';
import { configProblemText, ignoredText, originText } from '../core/settings/settings-words.ts';
import { plural } from '../core/text/words.ts';
import { configListData, configServersData, configSetData, settingShape } from '../core/wire/machine-shapes.ts';
import { command, done } from './command.ts';
import { confirmLoosening } from './loosening.ts';
import { dim, type Line, notable, strong } from './output/line.ts';
import { table } from './output/text-width.ts';
import { type CommandProblem, EXIT, problem, unknownWord, usageProblem } from './problem.ts';

const KEY = { syntax: '<key>', help: 'the name of a setting; "workrail config list" shows them' };

type ShownSetting = z.infer<typeof settingShape>;

export const configGet = command({
  operands: [KEY],
  example: 'workrail config get mode',
  needsNoConfig: true,
  data: settingShape,
  run: async ({ program, say }, { operands: [asked = ''] }) => {
    const config = await (await program.setup()).config();
    const data = shownSettings(config, await program.dataDir()).find((one) => one.key === asked);
    if (data === undefined) return err(unknownWord('setting', asked, SETTING_NAMES));
    say([dim(`from: ${originText(data.origin)}`)]);
    return done({
      data,
      lines: [[settingText(data.value)]],
      problem: invalidSettings(config),
      next: 'workrail config list',
    });
  },
});

export const configSet = command({
  operands: [KEY, { syntax: '[value]', help: 'the new value' }],
  options: [
    { flags: '--project', help: 'set it for this project, in .workrail/config.json' },
    { flags: '--unset', help: 'remove the setting' },
  ],
  example: 'workrail config set mode guided',
  needsNoConfig: true,
  data: configSetData,
  run: async (context, { operands: [name = '', text], options }) => {
    const { program } = context;
    if (!isSettingName(name)) return err(unknownWord('setting', name, SETTING_NAMES));
    const isUnset = options['unset'] === true;
    const isProject = options['project'] === true;
    const read = readValue(name, text, { isUnset, isProject });
    if (read.isErr()) return err(read.error);
    const { value } = read.value;
    const { config, configFiles, files, sha256 } = await program.setup();
    const origin = configFiles.findLast(({ kind }) => kind === (isProject ? 'workspace' : 'user'));
    if (origin === undefined) {
      return err(
        usageProblem('Your home folder is not a project.', 'Remove --project, or run the command in a project.'),
      );
    }
    const change = { origin, key: name, value };
    const loosened = await loosenedBy(files, change);
    if (loosened !== undefined) {
      const words = [name, ...(isUnset ? ['--unset'] : [text]), ...(isProject ? ['--project'] : [])];
      const now = value === undefined ? 'be removed' : `become ${settingText(value)}`;
      const loosening = {
        changes: [
          `${name} is ${settingText(loosened.before)} and would ${now}, so agents may do more without a person.`,
        ],
        command: `workrail config set ${words.join(' ')}`,
        purpose: 'change this setting',
      };
      const confirmed = await confirmLoosening(context, loosening, sha256);
      if (confirmed.isErr()) return err(confirmed.error);
    }
    const set = await setConfig(files, change);
    if (set.isErr()) return err(notSet(set.error));
    const resolved = await config();
    const { origin: now } = resolved.settings[name];
    const isOverridden = now.kind === 'variable' || (now.kind === 'workspace' && !isProject);
    const ignored = resolved.ignored.filter(
      (one) => 'kept' in one && one.key === name && originText(one.origin) === origin.file,
    );
    const changed = isUnset
      ? `Removed ${name} from ${origin.file}.`
      : `Set ${name} to ${settingText(value ?? '')} in ${origin.file}.`;
    return done({
      data: { key: name, value: value ?? null, file: origin.file, isChanged: set.value },
      lines: [
        [set.value ? changed : 'Already set; nothing changed.'],
        ...(isOverridden ? [[notable(`${originText(now)} overrides it.`)]] : []),
        ...ignored.map((one) => [notable(ignoredText(one))]),
      ],
      next: `workrail config get ${name}`,
    });
  },
});

/** The value of a command line; `undefined` removes the setting. */
function readValue(
  name: SettingName,
  text: string | undefined,
  { isUnset, isProject }: { readonly isUnset: boolean; readonly isProject: boolean },
): Result<{ readonly value: SettingValue | undefined }, CommandProblem> {
  const { expected, isForWorkspaces } = SETTING_KEYS[name];
  if ((text === undefined) !== isUnset) {
    return err(usageProblem(`${name} needs a value, or --unset.`, `The value can be ${expected}.`));
  }
  const value = text === undefined ? undefined : valueOfText(name, text);
  if (text !== undefined && value === undefined) {
    return err(usageProblem(`Invalid value "${text}" for ${name}.`, `The value can be ${expected}.`));
  }
  if (isProject && !isForWorkspaces) {
    return err(usageProblem(`${name} can only be set for the user, not for a project.`, 'Remove --project.'));
  }
  return ok({ value });
}

export const configList = command({
  example: 'workrail config list',
  needsNoConfig: true,
  data: configListData,
  run: async ({ program, switches, say }) => {
    const { config: load, sha256, machine } = await program.setup();
    const config = await load();
    const settings = [...shownSettings(config, await program.dataDir())];
    const short = (path: string) => shortPath(machine, path);
    const rows = table(
      settings.map((one) => [strong(one.key), short(settingText(one.value)), dim(short(originText(one.origin)))]),
    );
    const about = (i: number): readonly Line[] =>
      settings.slice(i, i + 1).map((one) => [dim(`  ${SETTING_KEYS[one.key].about}`)]);
    const invalid = invalidSettings(config);
    const ignored = config.ignored.map(ignoredText);
    if (!switches.isVerbose) say([dim('Add --verbose to see what each setting means.')]);
    return done({
      data: { settings, hash: configHash(config, sha256), problems: config.problems.map(configProblemText), ignored },
      lines: [
        ...rows.flatMap((row, i) => (switches.isVerbose ? [row, ...about(i)] : [row])),
        ...ignored.map((text) => [notable(text)]),
      ],
      problem: invalid,
      next: invalid === undefined ? 'workrail config get mode' : 'workrail config path',
    });
  },
});

export const configServers = command({
  example: 'workrail config servers',
  needsNoConfig: true,
  data: configServersData,
  run: async ({ program }) => {
    const [{ config, health, sha256 }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
    const settings = appliedSettings(await config(), dataDir);
    const servers = (await health.servers()).map((server) => serverStanding(server, settings));
    const lines = servers.flatMap((server): readonly Line[] => [
      [
        strong(serverName(server)),
        `  ${server.transport}, ${plural(server.tools.length, 'tool')}  `,
        server.needsRestart ? notable('restart needed') : dim('up to date'),
      ],
      [dim(`  ${server.appliedConfigHash}`)],
      ...(server.needsRestart ? [[`  ${changesText(server)}. ${server.restart}`]] : []),
    ]);
    return done({
      data: { desired: { hash: appliedConfigHash(settings, sha256), settings }, servers },
      lines:
        lines.length === 0
          ? [['No server was seen yet. A server is seen once an agent has recorded something.']]
          : lines,
      next: 'workrail config list',
    });
  },
});

export const configPath = command({
  example: 'workrail config path',
  needsNoConfig: true,
  data: z.strictObject({
    files: z.array(z.strictObject({ kind: z.enum(['user', 'workspace']), file: z.string(), isThere: z.boolean() })),
  }),
  run: async ({ program }) => {
    const { configFiles, files } = await program.setup();
    const shown = await Promise.all(
      configFiles.map(async ({ kind, file }) => ({ kind, file, isThere: await files.exists(file) })),
    );
    return done({
      data: { files: shown },
      lines: table(shown.map(({ kind, file, isThere }) => [kind, file, ...(isThere ? [] : [dim('(does not exist)')])])),
      next: 'workrail config list',
    });
  },
});

/** Every setting in effect; a default that depends on something else is shown as what it comes to. */
function shownSettings(config: ResolvedSettings, dataDir: string): readonly ShownSetting[] {
  const inEffect: { readonly [name in SettingName]?: string } = {
    dataDir,
    riskPolicy: runDefaults(config).riskPolicy,
  };
  return SETTING_NAMES.map((name) => {
    const { value, origin } = config.settings[name];
    return { key: name, value: value ?? inEffect[name] ?? '', origin };
  });
}

function notSet(refusal: SetConfigRefusal): CommandProblem {
  return refusal.code === 'broken_file'
    ? problem(EXIT.failed, configProblemText(refusal), 'Fix the file first; nothing was changed.')
    : problem(
        EXIT.failed,
        `${refusal.path} could not be written (${refusal.cause}).`,
        'Check its permissions and the free space.',
      );
}

function invalidSettings({ problems }: ResolvedSettings): CommandProblem | undefined {
  if (problems.length === 0) return undefined;
  const message = problems.map(configProblemText).join(' ');
  return problem(EXIT.checkFailed, message, 'Fix it; until then no run starts here.');
}
