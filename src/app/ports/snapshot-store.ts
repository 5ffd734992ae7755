import type { Result } from 'neverthrow';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { SnapshotRef } from '../../core/log/ids.ts';
import type { StoreFailure } from './store-failure.ts';

/** Execution snapshots by their hash. They come in with the append that names them. */
export type SnapshotStore = {
  get(ref: SnapshotRef): Promise<Result<ExecutionSnapshot, StoreFailure>>;
};
