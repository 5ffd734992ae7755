import { err, ok } from 'neverthrow';
import { commandInReplies } from '../adapters/clients/called-as.ts';
import { otherDataDir } from '../adapters/data-dir.ts';
import { runStore } from '../adapters/file-store/run-store.ts';
import { findDataDir, loadOwnConfig, ownStoreLimits, type Settings } from '../adapters/settings.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { gitObserver, referenceFiles } from '../adapters/workspace.ts';
import type { Services } from '../app/services.ts';
import { gateSettings, runDefaults } from '../core/settings/settings-in-effect.ts';
import { configProblemText } from '../core/settings/settings-words.ts';
import type { CompilePattern } from '../core/workflow/pattern.ts';
import { type Bundled, openCatalog } from './open-catalog.ts';

/** The services of the server. */
export async function openServerServices({ tokenForm }: Settings, bundled: Bundled): Promise<Services> {
  const dataDir = await findDataDir();
  const store = runStore(dataDir, nodeHasher.sha256, ownStoreLimits);
  return {
    ...store,
    command: ownCommand(dataDir),
    dataDir,
    catalog: openCatalog(bundled, dataDir),
    patterns: patternEngine(),
    workspace: gitObserver(nodeHasher),
    references: referenceFiles(bundled.folder),
    defaults: ownDefaults,
    gateSettings: async (folders) => gateSettings(await loadOwnConfig(folders)),
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    answerIds,
    // Few runs need signatures, so reading them is loaded with the first that does.
    approvers: async (workspace) => (await import('../adapters/approvers.ts')).findApprovers(workspace),
    tokenForm,
  };
}

/** Most workflows have no patterns, so the engine is loaded with the first that has one. */
function patternEngine(): Services['patterns'] {
  let loaded: Promise<CompilePattern> | undefined;
  return {
    load: () => {
      loaded ??= import('../adapters/patterns.ts').then(({ re2Patterns }) => re2Patterns());
      return loaded;
    },
  };
}

/** What to type for `workrail` here. */
function ownCommand(used: string): string {
  const { env, argv } = process;
  return commandInReplies({ env, program: argv[1] ?? 'workrail' }, otherDataDir(used));
}

/**
 * The preferences of a run that is started without a mode. The settings are read at each start, so a server need not be
 * restarted.
 */
const ownDefaults: Services['defaults'] = async (folders) => {
  const config = await loadOwnConfig(folders);
  const [problem] = config.problems;
  return problem === undefined
    ? ok(runDefaults(config))
    : err({ code: 'config_broken', problem: configProblemText(problem) });
};
