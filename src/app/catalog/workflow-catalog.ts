import type { WorkspaceProblem } from '../../core/prompt/workspace-problem.ts';
import type { WorkflowSource } from '../ports/workflow-sources.ts';
import { type Built, buildCatalog, type CatalogTools } from './build-catalog.ts';
import type { Catalog, FoundWorkflow } from './catalog.ts';

const WORKSPACES_MAX = 8;

export type WorkflowCatalog = {
  /** Everything that can be started, and everything that cannot. */
  list(workspace?: string): Promise<Catalog>;
  /** What an id stands for. Looking for one workflow takes far less than listing all, where there are many. */
  find(id: string, workspace?: string): Promise<CatalogAnswer>;
};

/** `workspaceProblem` is why the workspace that was asked for was not looked at. */
export type CatalogAnswer = { readonly found: FoundWorkflow; readonly workspaceProblem?: WorkspaceProblem };

/** Compiles what the source has. What did not change since the last look at a workspace is not looked at again. */
export function workflowCatalog(source: WorkflowSource, tools: CatalogTools): WorkflowCatalog {
  const built = new Map<string | undefined, Built>();
  const current = async (workspace: string | undefined) => {
    const listing = await source.files(workspace);
    const now = buildCatalog(listing, tools, built.get(workspace));
    built.delete(workspace);
    built.set(workspace, now);
    const oldest = built.keys().next();
    if (built.size > WORKSPACES_MAX && oldest.done !== true) built.delete(oldest.value);
    return now;
  };
  return {
    list: async (workspace) => {
      const { catalog, listing, resultOf } = await current(workspace);
      const { breathe } = tools;
      for (const file of breathe === undefined ? [] : listing.files) {
        await breathe?.();
        resultOf(file);
      }
      return catalog();
    },
    find: async (id, workspace) => {
      const { find, listing } = await current(workspace);
      const { workspaceProblem } = listing;
      return { found: find(id), ...(workspaceProblem === undefined ? {} : { workspaceProblem }) };
    },
  };
}
