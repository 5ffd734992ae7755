import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { memoryStore } from '../adapters/memory-store/memory-store.ts';
import { nodeHasher } from '../adapters/node-hasher.ts';
import { re2Patterns } from '../adapters/patterns/re2-patterns.ts';
import { randomIds } from '../adapters/random-ids.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { nodeAuthorFiles } from '../adapters/workflow-files/author-files.ts';
import { nodeFolderAccess } from '../adapters/workflow-files/folder-access.ts';
import { fixedFolders, workflowFiles } from '../adapters/workflow-files/workflow-files.ts';
import { referenceFiles } from '../adapters/workspace/reference-files.ts';
import type { AuthorServices } from '../app/bench/author-bench.ts';
import { PRESETS } from '../core/log/preferences.ts';
import { BUNDLED_ALIASES } from '../core/workflow/builtins/bundled-aliases.ts';
import { compileWorkflow } from '../core/workflow/compile-workflow.ts';

/** The bench of an author who works in a folder. */
export function openAuthor(bundledFolder: string, workspace: string): AuthorServices {
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  const fixed = fixedFolders(bundledFolder);
  return {
    workspace,
    folders: { project: join(workspace, '.workrail', 'workflows'), user: fixed.user },
    files: nodeAuthorFiles(nodeFolderAccess, workspace),
    source: workflowFiles(fixed, nodeFolderAccess),
    tools: {
      sha256,
      aliases: BUNDLED_ALIASES,
      compile: (input) => compileWorkflow(input, { sha256, compilePattern }),
    },
    breathe: () => setImmediate(),
    services: (catalog) => ({
      ...memoryStore(sha256),
      catalog,
      patterns: { load: async () => compilePattern },
      workspace: { observe: async () => [] },
      references: referenceFiles(bundledFolder),
      defaults: async () => ok(PRESETS.guided),
      hasher: nodeHasher,
      clock: systemClock,
      ids: randomIds(systemClock),
      tokenForm: 'compact',
    }),
  };
}
