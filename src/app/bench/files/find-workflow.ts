import { err, ok, type Result } from 'neverthrow';
import { authorCatalog } from '../../author/author-catalog.ts';
import type { AuthorServices } from '../../author/author-services.ts';
import { findTargets, type TargetRefusal } from '../../author/find-targets.ts';
import type { InvalidFile, ListedWorkflow } from '../../catalog/catalog.ts';
import type { WorkflowCatalog } from '../../catalog/workflow-catalog.ts';
import { knownWorkflow } from './known-workflow.ts';

/** A workflow with the catalog it was found in. */
export type TargetWorkflow = { readonly listed: ListedWorkflow; readonly catalog: WorkflowCatalog };

export type WorkflowRefusal =
  | TargetRefusal
  | { readonly code: 'workflow_broken'; readonly asked: string; readonly invalid: InvalidFile };

/** The one workflow that is meant, by its id or its file. It compiles. */
export async function findTargetWorkflow(
  bench: AuthorServices,
  asked: string,
): Promise<Result<TargetWorkflow, WorkflowRefusal>> {
  const { files } = bench;
  if (files.kindOf(asked) !== 'file') {
    const { catalog, all } = await authorCatalog(bench);
    const found = knownWorkflow(all, asked);
    if (found.kind === 'found') return ok({ listed: found.listed, catalog });
    if (found.kind === 'invalid') return err({ code: 'workflow_broken', asked, invalid: found.invalid });
    const problem = all.workspaceProblem === undefined ? {} : { workspaceProblem: all.workspaceProblem };
    return err({ code: 'target_unknown', asked, known: found.known, ...problem });
  }
  const targets = await findTargets(bench, [asked]);
  if (targets.isErr()) return err(targets.error);
  const { catalog, all } = await authorCatalog(bench, targets.value);
  const isMeant = ({ file }: ListedWorkflow | InvalidFile) => targets.value.includes(files.resolve(file.path));
  const invalid = all.invalid.find(isMeant);
  if (invalid !== undefined) return err({ code: 'workflow_broken', asked, invalid });
  const listed = all.workflows.find(isMeant);
  return listed === undefined ? err({ code: 'target_unknown', asked, known: [] }) : ok({ listed, catalog });
}
