import { loadOwnConfig } from '../adapters/settings.ts';
import { settingsOf } from '../adapters/setup/config/settings.ts';
import { nodeHasher } from '../adapters/system.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { Store } from '../app/services.ts';
import type { SessionAccess } from '../cli/program.ts';

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
