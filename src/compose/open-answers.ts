import { re2Patterns } from '../adapters/patterns.ts';
import { answerIds, nodeHasher, systemClock } from '../adapters/system.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { Store } from '../app/ports/store.ts';
import type { AnswerAccess } from '../cli/program.ts';
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
    by: byCommand(),
  };
}
