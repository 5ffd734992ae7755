import type { Result } from 'neverthrow';
import type { WorkflowHash } from '../../core/log/ids.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { StoreFailure } from './store-failure.ts';

/** What lies in the place of a workflow is another workflow, whole and readable. `place` is relative to the store. */
export type OtherWorkflowStored = {
  readonly code: 'other_workflow_stored';
  readonly place: string;
  readonly found: WorkflowHash;
};

/** Compiled workflows by their hash: what runs are pinned to. */
export type PinnedWorkflows = {
  /** Makes a workflow durable before a run refers to it. Pinning it again changes nothing. */
  pin(workflow: CompiledWorkflow): Promise<Result<WorkflowHash, StoreFailure>>;
  get(hash: WorkflowHash): Promise<Result<CompiledWorkflow, OtherWorkflowStored | StoreFailure>>;
};
