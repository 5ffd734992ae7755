import { re2Patterns } from '../adapters/patterns.ts';
import { loadOwnConfig } from '../adapters/settings.ts';
import { answerIds, nodeHasher, systemClock } from '../adapters/system.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { Store } from '../app/ports/store.ts';
import type { AnswerAccess } from '../cli/program.ts';
import { gateSettings } from '../core/settings/settings-in-effect.ts';
import { byCommand } from './open-store.ts';

/** What finding and answering what waits for a person needs. */
export function openAnswers(store: Store): AnswerAccess {
  const patterns = re2Patterns();
  return {
    ...store,
    patterns: { load: async () => patterns },
    workspace: gitObserver(nodeHasher),
    hasher: nodeHasher,
    clock: systemClock,
    answerIds,
    gateSettings: async (workspace) => gateSettings(await loadOwnConfig(workspace)),
    by: byCommand(),
  };
}
