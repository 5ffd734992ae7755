import { ok } from 'neverthrow';
import { memoryStore } from '../adapters/memory-store/memory-store.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { referenceFiles } from '../adapters/workspace.ts';
import type { WorkflowCatalog } from '../app/catalog/workflow-catalog.ts';
import type { Services } from '../app/services.ts';
import { PRESETS } from '../core/log/autonomy.ts';
import { REHEARSED_GATES } from '../core/settings/settings-in-effect.ts';
import type { CompilePattern } from '../core/workflow/pattern.ts';
import type { Bundled } from './open-catalog.ts';

/** The engine on a new store in memory. Checking a file runs no step, so this is loaded only by what does. */
export function openRehearsal(bundled: Bundled, catalog: WorkflowCatalog, compilePattern: CompilePattern): Services {
  return {
    ...memoryStore(nodeHasher.sha256),
    catalog,
    patterns: { load: async () => compilePattern },
    workspace: { observe: async () => [], tree: async () => undefined },
    references: referenceFiles(bundled.folder),
    defaults: async () => ok(PRESETS.guided),
    gateSettings: async () => REHEARSED_GATES,
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    answerIds,
    tokenForm: 'compact',
  };
}
