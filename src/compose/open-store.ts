import { fileStore } from '../adapters/file-store/file-store.ts';
import { findDataDir, loadOwnConfig, ownStoreLimits, settingsOf } from '../adapters/settings.ts';
import { nodeHasher, systemClock } from '../adapters/system.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { Store, Upkeep } from '../app/ports/store.ts';
import type { UpkeepServices } from '../app/services.ts';
import type { SessionAccess } from '../cli/program.ts';
import type { By } from '../core/log/events/event-envelope.ts';

/** The store of this machine. */
export async function openStore(): Promise<Store & Upkeep> {
  return fileStore(await findDataDir(), nodeHasher.sha256, ownStoreLimits);
}

/** What viewing sessions needs. */
export async function openSessions(store: Store): Promise<SessionAccess> {
  return {
    ...store,
    hasher: nodeHasher,
    workspace: gitObserver(nodeHasher),
    clock: systemClock,
    // Every server reads both forms, so an invalid setting must not prevent this.
    tokenForm: settingsOf(await loadOwnConfig([])).tokenForm,
    folder: process.cwd(),
    columns: () => process.stdout.columns,
  };
}

/** What changing and removing sessions needs. */
export function openUpkeep(store: Store & Upkeep): UpkeepServices {
  return { ...store, hasher: nodeHasher, clock: systemClock, by: byCommand() };
}

/** How a command reached us. Only what is typed and read at a terminal counts as a person's. */
export function byCommand(): By {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return isTerminal ? { via: 'cli', terminal: true } : { via: 'cli' };
}
