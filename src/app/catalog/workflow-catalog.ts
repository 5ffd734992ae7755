import type { WorkflowSource } from '../ports/workflow-source.ts';
import { type Built, buildCatalog, type CatalogTools } from './build-catalog.ts';
import type { Catalog } from './catalog.ts';

const WORKSPACES_MAX = 8;

/** Everything that can be started, and everything that cannot. */
export type WorkflowCatalog = { list(workspace?: string): Promise<Catalog> };

/** Compiles what the source has. What did not change since the last listing of a workspace is not looked at again. */
export function workflowCatalog(source: WorkflowSource, tools: CatalogTools): WorkflowCatalog {
  const built = new Map<string | undefined, Built>();
  return {
    list: async (workspace) => {
      const listing = await source.files(workspace);
      const now = buildCatalog(listing, tools, built.get(workspace));
      built.delete(workspace);
      built.set(workspace, now);
      const oldest = built.keys().next();
      if (built.size > WORKSPACES_MAX && oldest.done !== true) built.delete(oldest.value);
      return now.catalog;
    },
  };
}
