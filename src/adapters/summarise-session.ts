import { err, ok, type Result } from 'neverthrow';
import type { SnapshotStore } from '../app/ports/content-stores.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { assert } from '../core/assert.ts';
import { PRESETS } from '../core/log/autonomy.ts';
import type { ExecutionSnapshot } from '../core/log/execution-snapshot.ts';
import type { SessionId, SnapshotRef } from '../core/log/ids.ts';
import { type SessionSummary, summarise, tipSnapshots } from '../core/views/session-summary.ts';
import type { SessionView } from '../core/views/session-view.ts';

/** Summarises a session. This reads the snapshots of its tips. */
export async function summariseSession(
  { sessionId, view }: { readonly sessionId: SessionId; readonly view: SessionView },
  snapshots: SnapshotStore,
): Promise<Result<SessionSummary, StoreFailure>> {
  const found = new Map<SnapshotRef, ExecutionSnapshot>();
  for (const ref of tipSnapshots(view)) {
    const snapshot = await snapshots.get(ref);
    if (snapshot.isErr()) return err(snapshot.error);
    found.set(ref, snapshot.value);
  }
  const snapshotOf = (ref: SnapshotRef) => {
    const snapshot = found.get(ref);
    assert(snapshot !== undefined, `${ref} is the snapshot of no tip`);
    return snapshot;
  };
  return ok(summarise(sessionId, view, { snapshotOf, defaults: PRESETS.guided }));
}
