import { join } from 'node:path';
import { digestHex } from '../../../core/json/canonical-bytes.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, WorkflowHash } from '../../../core/log/ids.ts';

/** Where everything lies, relative to the data directory. Ids are checked text, so none can climb out. */
export const layout = {
  sessions: 'sessions',
  session: (id: SessionId) => join('sessions', id),
  events: (id: SessionId) => join('sessions', id, 'events'),
  manifest: (id: SessionId) => join('sessions', id, 'manifest.jsonl'),
  lock: (id: SessionId) => join('sessions', id, '.lock'),
  snapshots: 'snapshots',
  snapshot: (ref: SnapshotRef) => join('snapshots', `${digestHex(ref)}.json`),
  artifacts: 'artifacts',
  artifact: (digest: ArtifactDigest) => join('artifacts', digestHex(digest)),
  pinnedWorkflows: join('workflows', 'pinned'),
  pinnedWorkflow: (hash: WorkflowHash) => join('workflows', 'pinned', `${digestHex(hash)}.json`),
  /** Shared by everyone who appends, taken alone by collection. */
  storeLock: '.lock',
  keys: 'keys',
  keyring: join('keys', 'keyring.json'),
};
