import type { ShownReference } from '../../core/prompt/reply-parts.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';

/** Finds the documents that a workflow points at. */
export type ReferenceFinder = {
  /** Every reference in its declared order; one that leads to no file says so. Reads no content. */
  find(references: CompiledWorkflow['references'], workspace: string | undefined): Promise<readonly ShownReference[]>;
};
