import { err, ok } from 'neverthrow';
import type { PinnedWorkflows } from '../../../app/ports/pinned-workflows.ts';
import type { SnapshotStore } from '../../../app/ports/snapshot-store.ts';
import { type ExecutionSnapshot, parseSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { SnapshotRef } from '../../../core/log/ids.ts';
import { isSnapshotOf } from '../../../core/run/is-snapshot-of.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { readContent } from './content-files.ts';
import { filePinnedWorkflows } from './file-pinned-workflows.ts';
import { damagedContent, parseStored } from './parse-stored.ts';

const SNAPSHOTS_KEPT = 256;

export type FileSnapshots = SnapshotStore & {
  /** Keeps what was just stored: whoever stored it is about to ask for it. */
  remember(snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>): void;
};

export function fileSnapshots(
  parts: FileStoreParts,
  workflows: Pick<PinnedWorkflows, 'get'> = filePinnedWorkflows(parts),
): FileSnapshots {
  const { disk } = parts;
  const kept = boundedCache<SnapshotRef, ExecutionSnapshot>(SNAPSHOTS_KEPT);
  return {
    remember: (snapshots) => {
      for (const [ref, snapshot] of snapshots) kept.set(ref, snapshot);
    },
    get: async (ref) => {
      const known = kept.get(ref);
      if (known !== undefined) return ok(known);
      const path = layout.snapshot(ref);
      const read = readContent(disk, path, ref).andThen((bytes) => parseStored(path, bytes, parseSnapshot));
      if (read.isErr()) return read;
      const snapshot = read.value;
      // Whoever needs a workflow that cannot be read is told by the workflow itself.
      const workflow = await workflows.get(snapshot.workflowHash);
      if (workflow.isOk() && !isSnapshotOf(workflow.value, snapshot)) {
        return err(damagedContent(path, 'content_wrong_shape'));
      }
      kept.set(ref, snapshot);
      return ok(snapshot);
    },
  };
}
