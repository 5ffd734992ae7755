import type { WorkspaceObservation } from '../../core/log/events/run-events.ts';
import type { ShownReference } from '../../core/prompt/reply-parts.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';

/** Looks where the work takes place. */
export type WorkspaceObserver = {
  /** What is known of a workspace within a bounded time; what cannot be found out in it is left out. */
  observe(workspace: string | undefined): Promise<readonly WorkspaceObservation[]>;
};

/** Finds the documents that a workflow points at. */
export type ReferenceFinder = {
  /** Every reference in its declared order; one that leads to no file says so. Reads no content. */
  find(references: CompiledWorkflow['references'], workspace: string | undefined): Promise<readonly ShownReference[]>;
};
