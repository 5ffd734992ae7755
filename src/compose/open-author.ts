import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { re2Patterns } from '../adapters/patterns.ts';
import { nodeAuthorFiles } from '../adapters/sources/node-author-files.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import type { AuthorServices } from '../app/author/author-services.ts';
import { type Bundled, catalogTools } from './open-catalog.ts';

/** What authoring workflows in a folder needs. */
export function openAuthor(bundled: Bundled, workspace: string): AuthorServices {
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
    services: async (catalog) => (await import('./open-rehearsal.ts')).openRehearsal(bundled, catalog, compilePattern),
  };
}
