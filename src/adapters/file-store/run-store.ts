import type { MarkStore } from '../../app/ports/session-marks.ts';
import type { Store } from '../../app/ports/store.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { currentStoreKey } from '../system.ts';
import { fileArtifacts, filePinnedWorkflows, fileSnapshots } from './content/file-content-stores.ts';
import { fileKeyring } from './file-keyring.ts';
import { type FileStoreParts, fileStoreParts, type StoreLimits } from './file-store-parts.ts';
import { entryMakers } from './index/entry-makers.ts';
import { type FileSessionIndex, fileSessionIndex } from './index/file-session-index.ts';
import { fileSessionLogs } from './session/file-session-logs.ts';
import { fileSessionStore } from './session/file-session-store.ts';
import { manifestFiles } from './session/refresh-session.ts';
import { fileSessionMarks } from './upkeep/file-session-marks.ts';

/** What runs need of a data directory: the server loads this and not what verifies, collects and removes. */
export function runStore(root: string, sha256: Sha256, limits?: StoreLimits): Store {
  return runStoreOf(fileStoreParts(root, sha256, limits));
}

type RunStore = Store & { readonly sessionIndex: FileSessionIndex; readonly marks: MarkStore };

export function runStoreOf(parts: FileStoreParts): RunStore {
  const pinnedWorkflows = filePinnedWorkflows(parts);
  const snapshots = fileSnapshots(parts, pinnedWorkflows);
  const makers = entryMakers(parts, { snapshots, pinnedWorkflows });
  const index = fileSessionIndex(parts, async () => makers);
  const manifests = manifestFiles(parts.disk);
  const keyring = fileKeyring(parts);
  return {
    sessions: fileSessionStore({ ...parts, signer: () => currentStoreKey(keyring.seen()) }, manifests, {
      index,
      snapshots,
    }),
    logs: fileSessionLogs(parts, manifests),
    sessionIndex: index,
    snapshots,
    artifacts: fileArtifacts(parts.disk),
    pinnedWorkflows,
    keyring,
    marks: fileSessionMarks(parts, index.marked),
  };
}
