import type { Result } from 'neverthrow';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { StoreFailure } from './store-failure.ts';

/** Bytes of artifacts by their digest. They come in with the append that names them. */
export type ArtifactStore = {
  get(digest: ArtifactDigest): Promise<Result<Uint8Array, StoreFailure>>;
  /** An artifact that must be a JSON object, as those that agents hand in are. */
  getJson(digest: ArtifactDigest): Promise<Result<StoredJson, StoreFailure>>;
};

export type StoredJson = { readonly value: JsonObject; readonly bytes: Uint8Array };

/** Execution snapshots by their hash. They come in with the append that names them. */
export type SnapshotStore = {
  get(ref: SnapshotRef): Promise<Result<ExecutionSnapshot, StoreFailure>>;
};

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
