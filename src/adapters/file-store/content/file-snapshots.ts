import { ok } from 'neverthrow';
import type { SnapshotStore } from '../../../app/ports/snapshot-store.ts';
import { type ExecutionSnapshot, parseSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { SnapshotRef } from '../../../core/log/ids.ts';
import { boundedCache } from '../../bounded-cache.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { readContent } from './content-store.ts';
import { parseStored } from './parse-stored.ts';

const SNAPSHOTS_KEPT = 256;

export type FileSnapshots = SnapshotStore & {
  /** Keeps what was just stored: whoever stored it is about to ask for it. */
  remember(snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>): void;
};

export function fileSnapshots(disk: Disk): FileSnapshots {
  const kept = boundedCache<SnapshotRef, ExecutionSnapshot>(SNAPSHOTS_KEPT);
  return {
    remember: (snapshots) => {
      for (const [ref, snapshot] of snapshots) kept.set(ref, snapshot);
    },
    get: async (ref) => {
      const known = kept.get(ref);
      if (known !== undefined) return ok(known);
      const path = layout.snapshot(ref);
      return readContent(disk, path, ref)
        .andThen((bytes) => parseStored(path, bytes, parseSnapshot))
        .map((snapshot) => {
          kept.set(ref, snapshot);
          return snapshot;
        });
    },
  };
}
