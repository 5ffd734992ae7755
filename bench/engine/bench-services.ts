import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { nodeFolderAccess } from '../../src/adapters/sources/read-folder.ts';
import { workflowFiles } from '../../src/adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../../src/adapters/system.ts';
import { gitObserver, referenceFiles } from '../../src/adapters/workspace.ts';
import { workflowCatalog } from '../../src/app/catalog/workflow-catalog.ts';
import type { Store } from '../../src/app/ports/store.ts';
import type { Services } from '../../src/app/services.ts';
import { catalogTools } from '../../src/compose/open-catalog.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';

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

/** What the build compiled, as the program has it. */
const LIBRARY = 'dist/library.jsonl';

function compilerOf(library: string): string {
  const [head = ''] = readFileSync(library, 'utf8').split('\n', 1);
  return (JSON.parse(head) as { readonly compiler: string }).compiler;
}

/** The services of the program on real files, over a benchmark's store. */
export function benchServices({ userWorkflows }: BenchMachine, store: Store): Services {
  const compilePattern = re2Patterns();
  const source = workflowFiles({ bundled: 'workflows', user: userWorkflows }, nodeFolderAccess);
  return {
    ...store,
    catalog: workflowCatalog(
      source,
      catalogTools({ folder: 'workflows', library: LIBRARY, compiler: compilerOf(LIBRARY) }),
    ),
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
