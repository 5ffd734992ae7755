import { approversIn, findApprovers, ownApprovers } from '../adapters/approvers.ts';
import { checkRunner } from '../adapters/checks/command-runner.ts';
import { confirmedCommands } from '../adapters/checks/confirmed-commands.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { loadOwnConfig } from '../adapters/settings.ts';
import { sshSigner } from '../adapters/ssh-keygen.ts';
import { answerIds, nodeHasher, systemClock } from '../adapters/system.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { Store } from '../app/ports/store.ts';
import type { AnswerAccess, ApproverAccess, AttestAccess } from '../cli/program.ts';
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
    approvers: (workspace) => findApprovers(workspace),
    gateSettings: async (folders) => gateSettings(await loadOwnConfig(folders)),
    by: byCommand(),
  };
}

/** What the commands about approvers, and signing an answer, need. */
export function openApprovers(): ApproverAccess {
  return {
    find: (workspace) => findApprovers(workspace),
    own: ownApprovers(),
    signer: sshSigner,
    listIn: approversIn,
    folder: process.cwd(),
    sha256: nodeHasher.sha256,
  };
}

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
