import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { nodeFolderAccess } from '../../src/adapters/sources/read-folder.ts';
import { workflowFiles } from '../../src/adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../../src/adapters/system.ts';
import { gitObserver, referenceFiles } from '../../src/adapters/workspace.ts';
import { fileCompiler } from '../../src/app/catalog/compile-files.ts';
import { workflowCatalog } from '../../src/app/catalog/workflow-catalog.ts';
import type { Store } from '../../src/app/ports/store.ts';
import type { Services } from '../../src/app/services.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';

/** The folders of a machine with only what a benchmark needs. */
export type BenchMachine = { readonly data: string; readonly userWorkflows: string; readonly workspace: string };

export function benchMachine(root: string, workflows: readonly JsonObject[]): BenchMachine {
  const userWorkflows = join(root, 'home', '.workrail', 'workflows');
  const workspace = join(root, 'workspace');
  for (const path of [userWorkflows, workspace]) mkdirSync(path, { recursive: true });
  for (const source of workflows) {
    writeFileSync(join(userWorkflows, `${source['id']}.json`), JSON.stringify(source, null, 2));
  }
  return { data: join(root, 'data'), userWorkflows, workspace };
}

/** The services of the program on real files, over a benchmark's store. */
export function benchServices({ userWorkflows }: BenchMachine, store: Store): Services {
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  const source = workflowFiles({ bundled: 'workflows', user: userWorkflows }, nodeFolderAccess);
  return {
    ...store,
    catalog: workflowCatalog(source, {
      sha256,
      aliases: new Map(),
      compiler: async () => (around) =>
        fileCompiler(around, (input) => compileWorkflow(input, { sha256, compilePattern })),
    }),
    patterns: { load: async () => compilePattern },
    workspace: gitObserver(nodeHasher),
    references: referenceFiles('workflows'),
    defaults: async () => ok(PRESETS.guided),
    gateSettings: async () => REHEARSED_GATES,
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    answerIds,
    tokenForm: 'compact',
  };
}
