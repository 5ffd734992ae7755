import type * as z from 'zod';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import type { Tool } from './tool.ts';

/** The words for a fault of our own. What it was stands in the log, not in the reply. */
export const INTERNAL: ErrorEnvelope = {
  code: 'INTERNAL',
  message: 'WorkRail failed through a fault of its own. What was recorded before is safe.',
  suggestion: 'Send the same call again; if it fails again, tell the user to report it with what stands in the log.',
  retry: { kind: 'retryable_immediate' },
};

/** The words for a tool that is not there. */
export function unknownTool(name: string, tools: readonly Pick<Tool, 'name'>[]): ErrorEnvelope {
  return {
    code: 'VALIDATION_ERROR',
    message: `There is no tool "${name}".`,
    suggestion: `Call one of: ${tools.map((tool) => tool.name).join(', ')}.`,
    retry: { kind: 'not_retryable' },
  };
}

/** The words for arguments that a tool cannot take. */
export function wrongArguments({ name }: Pick<Tool, 'name'>, error: z.ZodError): ErrorEnvelope {
  const problems = error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  return {
    code: 'VALIDATION_ERROR',
    message: `${name} cannot take these arguments. ${problems.join('. ')}.`,
    suggestion: 'Correct the arguments named above and send the call again.',
    retry: { kind: 'not_retryable' },
  };
}
