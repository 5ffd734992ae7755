import { err, ok } from 'neverthrow';
import { loadOwnConfig } from '../adapters/settings.ts';
import type { Services } from '../app/services.ts';
import { defaultPreferences } from '../core/settings/settings-in-effect.ts';
import { configProblemText } from '../core/settings/settings-words.ts';

/** How a run goes that is started without a mode, by the settings as they are then: a server need not be restarted. */
export const runDefaults: Services['defaults'] = async (workspace) => {
  const config = await loadOwnConfig(workspace);
  const [problem] = config.problems;
  return problem === undefined
    ? ok(defaultPreferences(config))
    : err({ code: 'config_broken', problem: configProblemText(problem) });
};
