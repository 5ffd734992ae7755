import type { Store, Upkeep } from '../../app/ports/store.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { fileStoreAudit } from './audit/file-store-audit.ts';
import { fileArtifacts, filePinnedWorkflows, fileSnapshots } from './content/file-content-stores.ts';
import { fileKeyring } from './file-keyring.ts';
import { type FileStoreParts, fileStoreParts, type StoreLimits } from './file-store-parts.ts';
import { entryMakers } from './index/entry-makers.ts';
import { type FileSessionIndex, fileSessionIndex } from './index/file-session-index.ts';
import { fileSessionLogs } from './session/file-session-logs.ts';
import { fileSessionStore } from './session/file-session-store.ts';
import { manifestFiles } from './session/refresh-session.ts';
import { fileCollector } from './upkeep/file-collector.ts';
import { fileSessionBin } from './upkeep/file-session-bin.ts';
import { fileSessionMarks } from './upkeep/file-session-marks.ts';

/** What is done in the background can be waited for. */
type FileStore = Store & Upkeep & { readonly sessionIndex: Pick<FileSessionIndex, 'settled'> };

/** Everything durable, in one directory. Nothing is read or created before it is needed. */
export function fileStore(root: string, sha256: Sha256, limits?: StoreLimits): FileStore {
  return storeOf(fileStoreParts(root, sha256, limits));
}

export function storeOf(parts: FileStoreParts): FileStore {
  const pinnedWorkflows = filePinnedWorkflows(parts);
  const snapshots = fileSnapshots(parts, pinnedWorkflows);
  const makers = entryMakers(parts, { snapshots, pinnedWorkflows });
  const index = fileSessionIndex(parts, async () => makers);
  const manifests = manifestFiles(parts.disk);
  return {
    sessions: fileSessionStore(parts, manifests, { index, snapshots }),
    logs: fileSessionLogs(parts, manifests),
    sessionIndex: index,
    snapshots,
    artifacts: fileArtifacts(parts.disk),
    pinnedWorkflows,
    keyring: fileKeyring(parts),
    audit: fileStoreAudit(parts),
    marks: fileSessionMarks(parts, index.marked),
    bin: fileSessionBin(parts, index),
    collector: fileCollector(parts, index),
  };
}
