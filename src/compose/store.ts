import { fileStore } from '../adapters/file-store/file-store.ts';
import { nodeHasher } from '../adapters/system.ts';
import type { Store, Upkeep } from '../app/services.ts';
import { findDataDir } from './data-dir.ts';

/** The store of this machine. */
export async function openStore(): Promise<Store & Upkeep> {
  return fileStore(await findDataDir(), nodeHasher.sha256);
}
