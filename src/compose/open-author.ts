import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { memoryStore } from '../adapters/memory-store/memory-store.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { nodeAuthorFiles } from '../adapters/sources/node-author-files.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { referenceFiles } from '../adapters/workspace.ts';
import type { AuthorServices } from '../app/author/author-services.ts';
import { PRESETS } from '../core/log/autonomy.ts';
import { REHEARSED_GATES } from '../core/settings/settings-in-effect.ts';
import { type Bundled, catalogTools } from './open-catalog.ts';

/** What authoring workflows in a folder needs. */
export function openAuthor(bundled: Bundled, workspace: string): AuthorServices {
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  const fixed = fixedFolders(bundled.folder);
  return {
    workspace,
    folders: { project: join(workspace, '.workrail', 'workflows'), user: fixed.user },
    files: nodeAuthorFiles(nodeFolderAccess, workspace),
    source: workflowFiles(fixed, nodeFolderAccess),
    tools: catalogTools(bundled),
    compilePattern,
    yieldNow: () => setImmediate(),
    services: (catalog) => ({
      ...memoryStore(sha256),
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
    }),
  };
}
