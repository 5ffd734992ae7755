import { readFileSync } from 'node:fs';
import { ok } from 'neverthrow';
import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { answerIds, nodeHasher, randomIds } from '../../src/adapters/system.ts';
import { fileCompiler } from '../../src/app/catalog/compile-files.ts';
import { workflowCatalog } from '../../src/app/catalog/workflow-catalog.ts';
import type { WorkflowFile } from '../../src/app/ports/workflow-sources.ts';
import type { Services } from '../../src/app/services.ts';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';

const source = readFileSync(new URL('../../workflows/wr.first_steps.json', import.meta.url), 'utf8');
const file: WorkflowFile = {
  kind: 'bundled',
  ref: 'wr.first_steps.json',
  path: '/bundle/wr.first_steps.json',
  rank: 0,
  isInRoutines: false,
  content: { kind: 'text', text: source },
};
const clock = { nowMs: () => 1_700_000_000_000 };
const { sha256 } = nodeHasher;
const compilePattern = re2Patterns();

/** Everything a use case needs, in memory, with one bundled workflow and a fixed clock. */
export function memoryServices(): Services {
  return {
    ...memoryStore(sha256),
    catalog: workflowCatalog(
      { files: async () => ({ files: [file] }) },
      {
        sha256,
        aliases: new Map(),
        compiler: async () => (around) =>
          fileCompiler(around, (input) => compileWorkflow(input, { sha256, compilePattern })),
      },
    ),
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
