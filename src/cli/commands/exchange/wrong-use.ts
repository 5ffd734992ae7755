import type { CommandProblem } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';

/** The problem of a command line that cannot be meant. */
export function wrongUse(message: string, suggestion: string): CommandProblem {
  return {
    exitCode: EXIT.usage,
    error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } },
  };
}
