import { checkRunner } from '../adapters/checks/command-runner.ts';
import { confirmedCommands } from '../adapters/checks/confirmed-commands.ts';
import { nodeHasher } from '../adapters/system.ts';
import type { Store } from '../app/ports/store.ts';
import type { AttestAccess } from '../cli/program.ts';
import { openAnswers } from './open-answers.ts';

/** What running and recording checks needs. */
export function openAttest(store: Store, dataDir: string): AttestAccess {
  return {
    ...openAnswers(store),
    checkRunner,
    confirmations: confirmedCommands(dataDir, nodeHasher),
    showOutput: (chunk) =>
      new Promise((resolve) => {
        // Standard output is for the result. A slow reader slows the command down instead of filling the memory.
        if (process.stderr.write(chunk)) resolve();
        else process.stderr.once('drain', resolve);
      }),
  };
}
