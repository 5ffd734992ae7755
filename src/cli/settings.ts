import { err, ok } from 'neverthrow';
import { isSettingName } from '../core/settings/setting-keys.ts';
import { configProblemText, originText } from '../core/settings/settings-words.ts';
import type { RunCommand } from './command.ts';
import { unknownSetting, wrongSettings } from './commands/config/config-problem.ts';
import { shownSettings } from './commands/config/shown-settings.ts';

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
