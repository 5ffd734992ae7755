import { err, ok, type Result } from 'neverthrow';
import { type CanonicalBytes, canonicalBytes, type Sha256 } from '../../json/canonical-bytes.ts';
import type { SessionEvent } from '../event.ts';
import { type ExecutionSnapshot, parseSnapshot } from '../execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef } from '../ids.ts';
import type { AppendPlan } from './append-plan.ts';
import { addContentRefs, noContentRefs } from './content-refs.ts';

/** The hash function, for documents of ours and for bytes of others. */
export type ContentHashes = {
  readonly sha256: Sha256;
  readonly digestOf: (bytes: Uint8Array) => string;
};

export type ContentRefusal =
  | { readonly code: 'missing_snapshot'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'foreign_snapshot'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'wrong_snapshot'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'missing_artifact'; readonly sha256: ArtifactDigest }
  | { readonly code: 'wrong_artifact'; readonly sha256: ArtifactDigest }
  | { readonly code: 'unnamed_content'; readonly name: SnapshotRef | ArtifactDigest };

/** What is wrong with the content that an event of a plan names. */
export function contentRefusal(plan: AppendPlan, event: SessionEvent): ContentRefusal | undefined {
  if (event.kind === 'node_created') {
    const { snapshotRef, workflowHash } = event.data;
    const snapshot = plan.snapshots.get(snapshotRef);
    if (snapshot === undefined) return { code: 'missing_snapshot', snapshotRef };
    if (snapshot.workflowHash !== workflowHash) return { code: 'foreign_snapshot', snapshotRef };
  }
  if (event.kind === 'node_output_appended' && event.data.outputChannel === 'artifact') {
    const { sha256, byteLength } = event.data.payload;
    const bytes = plan.artifacts.get(sha256);
    if (bytes === undefined) return { code: 'missing_artifact', sha256 };
    if (bytes.length !== byteLength) return { code: 'wrong_artifact', sha256 };
  }
  return undefined;
}

/** The bytes of every snapshot of a plan, by its name. */
export type SealedSnapshots = ReadonlyMap<SnapshotRef, CanonicalBytes>;

/**
 * Holds the content of a plan against its names. Content is shared between sessions, so what lies under the hash of
 * something else would harm those that have nothing to do with the plan.
 */
export function sealContent(plan: AppendPlan, hashes: ContentHashes): Result<SealedSnapshots, ContentRefusal> {
  const named = noContentRefs();
  for (const event of plan.events) addContentRefs(named, event);
  const sealed = new Map<SnapshotRef, CanonicalBytes>();
  for (const [snapshotRef, snapshot] of plan.snapshots) {
    if (!named.snapshots.has(snapshotRef)) return err({ code: 'unnamed_content', name: snapshotRef });
    const bytes = bytesNamedBy(snapshotRef, snapshot, hashes.sha256);
    if (bytes === undefined) return err({ code: 'wrong_snapshot', snapshotRef });
    sealed.set(snapshotRef, bytes);
  }
  for (const [sha256, bytes] of plan.artifacts) {
    if (!named.artifacts.has(sha256)) return err({ code: 'unnamed_content', name: sha256 });
    if (hashes.digestOf(bytes) !== sha256) return err({ code: 'wrong_artifact', sha256 });
  }
  return ok(sealed);
}

function bytesNamedBy(ref: SnapshotRef, snapshot: ExecutionSnapshot, sha256: Sha256): CanonicalBytes | undefined {
  const bytes = canonicalBytes(snapshot);
  if (bytes.isErr() || sha256(bytes.value) !== (ref as string)) return undefined;
  return parseSnapshot(snapshot).isOk() ? bytes.value : undefined;
}
