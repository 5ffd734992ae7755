import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { memoryStore } from '../adapters/memory-store/memory-store.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { randomIds } from '../adapters/random-ids.ts';
import { nodeAuthorFiles } from '../adapters/sources/node-author-files.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { nodeHasher } from '../adapters/system.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { nodeFolderAccess } from '../adapters/workflow-files/folder-access.ts';
import { referenceFiles } from '../adapters/workspace/reference-files.ts';
import type { AuthorServices } from '../app/author/author-services.ts';
import { PRESETS } from '../core/log/autonomy.ts';
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
