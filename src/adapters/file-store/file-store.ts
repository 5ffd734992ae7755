import type { Store, Upkeep } from '../../app/ports/store.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { fileStoreAudit } from './audit/file-store-audit.ts';
import { type FileStoreParts, fileStoreParts, type StoreLimits } from './file-store-parts.ts';
import type { FileSessionIndex } from './index/file-session-index.ts';
import { runStoreOf } from './run-store.ts';
import { fileCollector } from './upkeep/file-collector.ts';
import { fileSessionBin } from './upkeep/file-session-bin.ts';

/** What is done in the background can be waited for. */
type FileStore = Store & Upkeep & { readonly sessionIndex: Pick<FileSessionIndex, 'settled'> };

/** Everything durable, in one directory. Nothing is read or created before it is needed. */
export function fileStore(root: string, sha256: Sha256, limits?: StoreLimits): FileStore {
  return storeOf(fileStoreParts(root, sha256, limits));
}

export function storeOf(parts: FileStoreParts): FileStore {
  const store = runStoreOf(parts);
  const { sessionIndex } = store;
  return {
    ...store,
    audit: fileStoreAudit(parts, store.keyring),
    bin: fileSessionBin(parts, sessionIndex),
    collector: fileCollector(parts, sessionIndex),
  };
}
