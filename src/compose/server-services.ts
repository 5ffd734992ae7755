import { ok } from 'neverthrow';
import { re2Patterns } from '../adapters/patterns.ts';
import { randomIds } from '../adapters/random-ids.ts';
import type { Settings } from '../adapters/setup/config/settings.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { nodeHasher } from '../adapters/system.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { nodeFolderAccess } from '../adapters/workflow-files/folder-access.ts';
import { referenceFiles } from '../adapters/workspace/reference-files.ts';
import { gitObserver } from '../adapters/workspace.ts';
import { type WorkflowCatalog, workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import type { Services } from '../app/services.ts';
import { BUNDLED_ALIASES } from '../core/workflow/builtins/bundled-aliases.ts';
import { compileWorkflow } from '../core/workflow/compile-workflow.ts';
import type { CompilePattern } from '../core/workflow/pattern.ts';
import { runDefaults } from './run-defaults.ts';
import { openStore } from './store.ts';

/** Joins ports to adapters for the server. */
export async function openServerServices({ tokenForm }: Settings, bundledFolder: string): Promise<Services> {
  const patterns = re2Patterns();
  return {
    ...(await openStore()),
    catalog: openCatalog(bundledFolder, patterns),
    patterns: { load: async () => patterns },
    workspace: gitObserver(nodeHasher),
    references: referenceFiles(bundledFolder),
    defaults: runDefaults,
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    tokenForm,
  };
}

function openCatalog(bundledFolder: string, compilePattern: CompilePattern): WorkflowCatalog {
  const { sha256 } = nodeHasher;
  // The bundle was checked before it was published: its patterns are made when a run asks for them, not by a first call.
  const onceAsked: CompilePattern = (pattern, flags) =>
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
      compileWorkflow(input, { sha256, compilePattern: input.isBundled ? onceAsked : compilePattern }),
  });
}
