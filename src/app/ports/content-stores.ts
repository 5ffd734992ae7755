import type { Result } from 'neverthrow';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { StoreFailure } from './store-failure.ts';

/** Artifacts by digest. They are stored with the append that names them. */
export type ArtifactStore = {
  get(digest: ArtifactDigest): Promise<Result<Uint8Array, StoreFailure>>;
  /** An artifact as a JSON object. All artifacts that agents send are objects. */
  getJson(digest: ArtifactDigest): Promise<Result<StoredJson, StoreFailure>>;
};

export type StoredJson = { readonly value: JsonObject; readonly bytes: Uint8Array };

/** Execution snapshots by hash. They are stored with the append that names them. */
export type SnapshotStore = {
  get(ref: SnapshotRef): Promise<Result<ExecutionSnapshot, StoreFailure>>;
};

/** Another, readable workflow is stored in the place of this one. `place` is relative to the store. */
export type OtherWorkflowStored = {
  readonly code: 'other_workflow_stored';
  readonly place: string;
  readonly found: WorkflowHash;
};

/** The bytes of a workflow that was valid when they were made, and their hash. */
export type StoredBytes = { readonly hash: WorkflowHash; readonly bytes: () => Uint8Array };

/** Compiled workflows by hash. Runs are pinned to them. */
export type PinnedWorkflows = {
  /** Makes a workflow durable before a run refers to it. Idempotent. `stored`: what it was read from, if that is known. */
  pin(workflow: CompiledWorkflow, stored?: StoredBytes): Promise<Result<WorkflowHash, StoreFailure>>;
  get(hash: WorkflowHash): Promise<Result<CompiledWorkflow, OtherWorkflowStored | StoreFailure>>;
};
