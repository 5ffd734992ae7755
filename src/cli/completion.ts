import { err, ok } from 'neverthrow';
import { nearest } from '../core/text/spelling.ts';
import type { CommandProblem, RunCommand } from './command.ts';
import { candidatesFor } from './commands/completion/candidates.ts';
import { COMPLETION_SCRIPTS } from './commands/completion/completion-scripts.ts';
import { liveCandidates } from './commands/completion/live-candidates.ts';
import { EXIT } from './exit-codes.ts';
import { type CompletionData, SHELLS, type Shell } from './shapes/completion/completion-shape.ts';

export const completion: RunCommand = async ({ program }, { operands, options }) => {
  const [asked = '', ...words] = operands;
  const shell = SHELLS.find((one) => one === asked);
  if (shell === undefined) return err(unknownShell(asked));
  if (options['complete'] === true) {
    const candidates = [...(await candidatesFor(words, liveCandidates(program)))];
    const data: CompletionData = { shell, candidates };
    return ok({ kind: 'done', data, lines: candidates.map(({ value, about }) => [`${value} ${about}`]), next: '' });
  }
  const script = COMPLETION_SCRIPTS[shell];
  const data: CompletionData = { shell, script };
  return ok({
    kind: 'done',
    data,
    lines: script
      .trimEnd()
      .split('\n')
      .map((line) => [line]),
    next: INSTALL[shell],
  });
};

const INSTALL: { readonly [shell in Shell]: string } = {
  bash: "echo 'source <(workrail completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(workrail completion zsh)' >> ~/.zshrc",
  fish: 'workrail completion fish > ~/.config/fish/completions/workrail.fish',
};

function unknownShell(asked: string): CommandProblem {
  const meant = nearest(asked, SHELLS);
  const known = `The shells are ${SHELLS.join(', ')}.`;
  return {
    exitCode: EXIT.usage,
    error: {
      code: 'VALIDATION_ERROR',
      message: `There is no completion for "${asked}".`,
      suggestion: meant === undefined ? known : `Did you mean ${meant}? ${known}`,
      retry: { kind: 'not_retryable' },
    },
  };
}
