import { ok } from 'neverthrow';
import { re2Patterns } from '../../../../src/adapters/patterns.ts';
import { answerIds, nodeHasher, randomIds } from '../../../../src/adapters/system.ts';
import { fileCompiler } from '../../../../src/app/catalog/compile-files.ts';
import { type WorkflowCatalog, workflowCatalog } from '../../../../src/app/catalog/workflow-catalog.ts';
import type { Store } from '../../../../src/app/ports/store.ts';
import type { WorkflowFile } from '../../../../src/app/ports/workflow-sources.ts';
import type { Services } from '../../../../src/app/services.ts';
import { PRESETS } from '../../../../src/core/log/autonomy.ts';
import { REHEARSED_GATES } from '../../../../src/core/settings/settings-in-effect.ts';
import { type CompileInput, compileWorkflow } from '../../../../src/core/workflow/compile-workflow.ts';
import { COMMON_FILES } from './workflow-files.ts';

const { sha256 } = nodeHasher;
const compilePattern = re2Patterns();
const clock = { nowMs: () => 1_700_000_000_000 };

/** Files are the same in every world that has them, so they are looked through once. */
const catalogs = new Map<readonly WorkflowFile[], WorkflowCatalog>();

/** Everything a server needs over a store, with any set of workflow files and nothing else of this machine. */
export function servicesOver(store: Store, files: readonly WorkflowFile[]): Services {
  const catalog = catalogs.get(files) ?? catalogOf(files);
  catalogs.set(files, catalog);
  return {
    ...store,
    catalog,
    patterns: { load: async () => compilePattern },
    workspace: { observe: async () => [], tree: async () => undefined },
    references: { find: async () => [] },
    defaults: async () => ok(PRESETS.guided),
    gateSettings: async () => REHEARSED_GATES,
    hasher: nodeHasher,
    clock,
    ids: randomIds(clock),
    answerIds,
    tokenForm: 'compact',
  };
}

function catalogOf(files: readonly WorkflowFile[]): WorkflowCatalog {
  const listing = { files: [...COMMON_FILES, ...files] };
  const compile = (input: CompileInput) => compileWorkflow(input, { sha256, compilePattern });
  return workflowCatalog(
    { files: async () => listing },
    { sha256, aliases: new Map(), compiler: async () => (around) => fileCompiler(around, compile) },
  );
}
