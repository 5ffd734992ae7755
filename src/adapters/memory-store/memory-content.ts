import { err, ok, type Result } from 'neverthrow';
import type { ArtifactStore } from '../../app/ports/content-stores.ts';
import type { PinnedWorkflows } from '../../app/ports/pinned-workflows.ts';
import type { SnapshotStore } from '../../app/ports/snapshot-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import { jsonObjectSchema } from '../../core/log/field-schemas.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import { parseDocument } from '../../core/log/parse-document.ts';
import { isSnapshotOf } from '../../core/run/is-snapshot-of.ts';
import {
  type CompiledWorkflow,
  parseCompiledWorkflow,
  sealWorkflow,
} from '../../core/workflow/compiled/compiled-workflow.ts';
import { damagedContent, parseStored } from '../file-store/content/parse-stored.ts';

/** What lies beside the log under the name of its hash. */
export type MemoryContent = {
  readonly snapshots: Map<SnapshotRef, ExecutionSnapshot>;
  readonly artifacts: Map<ArtifactDigest, Uint8Array>;
  readonly workflows: Map<WorkflowHash, CompiledWorkflow>;
};

export function emptyContent(): MemoryContent {
  return { snapshots: new Map(), artifacts: new Map(), workflows: new Map() };
}

export function memorySnapshots({ snapshots, workflows }: MemoryContent): SnapshotStore {
  return {
    get: async (ref) =>
      named(snapshots, ref).andThen((snapshot) => {
        const workflow = workflows.get(snapshot.workflowHash);
        const isFit = workflow === undefined || isSnapshotOf(workflow, snapshot);
        return isFit ? ok(snapshot) : err(damagedContent(ref, 'content_wrong_shape'));
      }),
  };
}

export function memoryArtifacts({ artifacts }: MemoryContent): ArtifactStore {
  return {
    get: async (digest) => named(artifacts, digest),
    getJson: async (digest) =>
      named(artifacts, digest).andThen((bytes) =>
        parseStored(digest, bytes, (value) => parseDocument(jsonObjectSchema, value)).map((value) => ({
          value,
          bytes,
        })),
      ),
  };
}

export function memoryPinnedWorkflows({ workflows }: MemoryContent, sha256: Sha256): PinnedWorkflows {
  return {
    pin: async (workflow) => {
      const { hash, bytes } = sealWorkflow(workflow, sha256);
      // As a file would give it back.
      return parseStored(hash, bytes, parseCompiledWorkflow).map((stored) => {
        workflows.set(hash, stored);
        return hash;
      });
    },
    get: async (hash) => named(workflows, hash),
  };
}

function named<Name extends string, Value>(values: ReadonlyMap<Name, Value>, name: Name): Result<Value, StoreFailure> {
  const value = values.get(name);
  if (value !== undefined) return ok(value);
  return err(damagedContent(name, 'content_missing'));
}
