import { fileStore } from '../adapters/file-store/file-store.ts';
import { findDataDir, loadOwnConfig, settingsOf } from '../adapters/settings.ts';
import { nodeHasher, systemClock } from '../adapters/system.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { Store, Upkeep } from '../app/ports/store.ts';
import type { UpkeepServices } from '../app/upkeep/collect-garbage.ts';
import type { SessionAccess } from '../cli/program.ts';

/** The store of this machine. */
export async function openStore(): Promise<Store & Upkeep> {
  return fileStore(await findDataDir(), nodeHasher.sha256);
}

/** Joins what looking at sessions needs. */
export async function openSessions(store: Store): Promise<SessionAccess> {
  return {
    ...store,
    hasher: nodeHasher,
    workspace: gitObserver(nodeHasher),
    clock: systemClock,
    // Either form is read by every server, so a setting that means nothing is no reason to show nothing.
    tokenForm: settingsOf(await loadOwnConfig(undefined)).tokenForm,
    folder: process.cwd(),
    columns: () => process.stdout.columns,
  };
}

/** Joins what changing and removing sessions needs. */
export function openUpkeep(store: Store & Upkeep): UpkeepServices {
  return { ...store, hasher: nodeHasher, clock: systemClock };
}
