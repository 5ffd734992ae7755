import type { WorkflowSourceEntry } from '../../core/sources.ts';
import { workflowCatalog } from '../catalog/workflow-catalog.ts';
import type { ListedSources, WorkflowFile } from '../ports/workflow-sources.ts';
import type { AuthorServices } from './author-services.ts';

/** What a person reads about a workflow before agents may follow it. */
export type DescribedWorkflow = {
  readonly file: string;
  readonly id: string;
  readonly title: string;
  readonly steps: number;
  /** The commands that its checks run. */
  readonly commands: readonly string[];
};

export type DescribedSource = {
  readonly workflows: readonly DescribedWorkflow[];
  /** Files that cannot be used, each with its number of errors. */
  readonly invalid: readonly { readonly file: string; readonly errors: number }[];
};

/** Above every other file, so that each workflow of the source is described, whatever overrides it later. */
const RANK = 1_000;

/** Compiles the workflows of a source that is not in use yet. */
export async function describeSource(
  { source: present, tools, workspace }: Pick<AuthorServices, 'source' | 'tools' | 'workspace'>,
  inspector: ListedSources['inspector'],
  source: WorkflowSourceEntry,
): Promise<DescribedSource> {
  const read = await inspector.inspect(source);
  const files: readonly WorkflowFile[] =
    read.kind === 'ready' ? read.files.map((file) => ({ ...file, rank: file.rank + RANK })) : [];
  const listing = await present.files(workspace);
  const together = { files: async () => ({ ...listing, files: [...listing.files, ...files] }) };
  const { workflows, invalid } = await workflowCatalog(together, tools).list(workspace);
  const isOurs = ({ path }: { readonly path: string }) => files.some((file) => file.path === path);
  return {
    workflows: workflows
      .filter(({ file }) => isOurs(file))
      .map(({ id, name, file, workflow }) => ({
        file: file.ref,
        id,
        title: name,
        steps: workflow.steps.length,
        commands: [...new Set(workflow.steps.flatMap(({ checks = [] }) => checks.map(({ run }) => run)))],
      })),
    invalid: invalid
      .filter(({ file }) => isOurs(file))
      .map(({ file, diagnostics }) => ({
        file: file.ref,
        errors: diagnostics.filter(({ severity }) => severity === 'error').length,
      })),
  };
}
