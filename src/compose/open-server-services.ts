import { err, ok } from 'neverthrow';
import { commandInReplies } from '../adapters/clients/called-as.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { defaultDataDir, findDataDir, loadOwnConfig, type Settings } from '../adapters/settings.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { gitObserver, referenceFiles } from '../adapters/workspace.ts';
import { type WorkflowCatalog, workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import type { Services } from '../app/services.ts';
import { gateSettings, runDefaults } from '../core/settings/settings-in-effect.ts';
import { configProblemText } from '../core/settings/settings-words.ts';
import { shellWord } from '../core/text/words.ts';
import { BUNDLED_ALIASES } from '../core/workflow/builtins/builtin-workflows.ts';
import { compileWorkflow } from '../core/workflow/compile-workflow.ts';
import type { CompilePattern } from '../core/workflow/pattern.ts';
import { openStore } from './open-store.ts';

/** The services of the server. */
export async function openServerServices({ tokenForm }: Settings, bundledFolder: string): Promise<Services> {
  const patterns = re2Patterns();
  return {
    ...(await openStore()),
    command: await ownCommand(),
    catalog: openCatalog(bundledFolder, patterns),
    patterns: { load: async () => patterns },
    workspace: gitObserver(nodeHasher),
    references: referenceFiles(bundledFolder),
    defaults: ownDefaults,
    gateSettings: async (workspace) => gateSettings(await loadOwnConfig(workspace)),
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    answerIds,
    tokenForm,
  };
}

async function ownCommand(): Promise<string> {
  const used = await findDataDir();
  const { env, argv } = process;
  const dataDir = used === defaultDataDir() ? undefined : shellWord(used);
  return commandInReplies({ env, program: argv[1] ?? 'workrail' }, dataDir);
}

function openCatalog(bundledFolder: string, compilePattern: CompilePattern): WorkflowCatalog {
  const { sha256 } = nodeHasher;
  // Bundled workflows were checked before the release, so their patterns are compiled on first use instead of in the
  // first call.
  const onFirstUse: CompilePattern = (pattern, flags) =>
    ok({
      test: (text) =>
        compilePattern(pattern, flags).match(
          (made) => made.test(text),
          () => false,
        ),
    });
  return workflowCatalog(workflowFiles(fixedFolders(bundledFolder), nodeFolderAccess), {
    sha256,
    aliases: BUNDLED_ALIASES,
    compile: (input) =>
      compileWorkflow(input, { sha256, compilePattern: input.isBundled ? onFirstUse : compilePattern }),
  });
}

/**
 * The preferences of a run that is started without a mode. The settings are read at each start, so a server need not be
 * restarted.
 */
const ownDefaults: Services['defaults'] = async (workspace) => {
  const config = await loadOwnConfig(workspace);
  const [problem] = config.problems;
  return problem === undefined
    ? ok(runDefaults(config))
    : err({ code: 'config_broken', problem: configProblemText(problem) });
};
