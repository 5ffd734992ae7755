import { compileWorkflow, type Diagnostic } from '../core/workflow/compile-workflow.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled-workflow.ts';
import type { WorkflowFile, WorkflowSource } from './ports/workflow-source.ts';

export type FoundWorkflow = { readonly file: WorkflowFile; readonly workflow: CompiledWorkflow };
export type BrokenWorkflow = { readonly file: WorkflowFile; readonly diagnostics: readonly Diagnostic[] };

/** Every workflow there is, and every file that cannot be used with what is wrong with it. */
export async function listWorkflows(
  source: WorkflowSource,
): Promise<{ readonly workflows: readonly FoundWorkflow[]; readonly broken: readonly BrokenWorkflow[] }> {
  const workflows: FoundWorkflow[] = [];
  const broken: BrokenWorkflow[] = [];
  for (const file of await source.files()) {
    compileWorkflow(file.content).match(
      (workflow) => workflows.push({ file, workflow }),
      (diagnostics) => broken.push({ file, diagnostics }),
    );
  }
  workflows.sort((a, b) => (a.workflow.workflowId < b.workflow.workflowId ? -1 : 1));
  return { workflows, broken };
}
