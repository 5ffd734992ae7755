import type { ArtifactStore, PinnedWorkflows, SnapshotStore } from './content-stores.ts';
import type { KeyringStore } from './keyring-store.ts';
import type { SessionIndex } from './session-index.ts';
import type { MarkReader, MarkStore } from './session-marks.ts';
import type { SessionLogs, SessionStore } from './session-store.ts';
import type { Collector, SessionBin, StoreAudit } from './upkeep.ts';

/** Everything that outlives the process. */
export type Store = {
  readonly sessions: SessionStore;
  readonly logs: SessionLogs;
  readonly sessionIndex: SessionIndex;
  readonly marks: MarkReader;
  readonly snapshots: SnapshotStore;
  readonly artifacts: ArtifactStore;
  readonly pinnedWorkflows: PinnedWorkflows;
  readonly keyring: KeyringStore;
};

/** What maintaining a durable store needs besides reading it. */
export type Upkeep = {
  readonly audit: StoreAudit;
  readonly marks: MarkStore;
  readonly bin: SessionBin;
  readonly collector: Collector;
};
