import { ok } from 'neverthrow';
import { shortPath } from '../../../app/ports/machine.ts';
import { configHash } from '../../../core/machine/config/config-hash.ts';
import { SETTING_KEYS } from '../../../core/settings/setting-keys.ts';
import { configProblemText, originText } from '../../../core/settings/settings-words.ts';
import type { RunCommand } from '../../command.ts';
import type { Line } from '../../output/line.ts';
import type { ConfigListData, ShownSetting } from '../../shapes/config/config-shapes.ts';
import { wrongSettings } from './config-problem.ts';
import { shownSettings } from './shown-settings.ts';

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
