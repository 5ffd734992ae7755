import { join } from 'node:path';
import { assert } from '../../../core/assert.ts';
import { digestHex } from '../../../core/json/canonical-bytes.ts';
import type { ArtifactDigest, RunId, SessionId, SnapshotRef, WorkflowHash } from '../../../core/log/ids.ts';

/** The file in a session's folder whose modification time is when the session was imported or restored from the bin. */
export const ARRIVED = 'arrived';

/** Every path relative to the data directory. Ids are checked again here, so that none can climb out. */
export const layout = {
  sessions: 'sessions',
  session: (id: SessionId) => join('sessions', plain(id)),
  events: (id: SessionId) => join('sessions', plain(id), 'events'),
  manifest: (id: SessionId) => join('sessions', plain(id), 'manifest.jsonl'),
  keep: (id: SessionId) => join('sessions', plain(id), 'keep'),
  /** Holds one file for each closed run. */
  closed: (id: SessionId) => join('sessions', plain(id), 'closed'),
  closedRun: (id: SessionId, runId: RunId) => join('sessions', plain(id), 'closed', plain(runId)),
  /** Exists while a session is only part of one. */
  salvaged: (id: SessionId) => join('sessions', plain(id), 'salvaged'),
  lock: (id: SessionId) => join('sessions', plain(id), '.lock'),
  snapshots: 'snapshots',
  snapshot: (ref: SnapshotRef) => join('snapshots', `${plain(digestHex(ref))}.json`),
  artifacts: 'artifacts',
  artifact: (digest: ArtifactDigest) => join('artifacts', plain(digestHex(digest))),
  pinnedWorkflows: join('workflows', 'pinned'),
  pinnedWorkflow: (hash: WorkflowHash) => join('workflows', 'pinned', `${plain(digestHex(hash))}.json`),
  cache: 'cache',
  sessionIndex: join('cache', 'sessions.jsonl'),
  /** Shared by every appender, held exclusively by collection. */
  storeLock: '.lock',
  keys: 'keys',
  keyring: join('keys', 'keyring.json'),
  /** Held while keys are rotated. */
  keyringLock: join('keys', '.lock'),
};

/** The types already ensure this, but a wrong cast must not reach the disk. */
function plain(name: string): string {
  assert(/^[0-9a-z_]+$/.test(name), `${JSON.stringify(name)} is not a valid file name`);
  return name;
}
