import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import { nearest } from '../core/text/spelling.ts';

/** What the process exits with; scripts rely on it. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  checkFailed: 4,
  needsPerson: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Why a command did not succeed, and the exit code. */
export type CommandProblem = { readonly error: ErrorEnvelope; readonly exitCode: ExitCode };

/** An error in words. Running the same command again does not help, unless the caller adds another `retry`. */
export function errorWords(code: ErrorEnvelope['code'], message: string, suggestion: string): ErrorEnvelope {
  return { code, message, suggestion, retry: { kind: 'not_retryable' } };
}

/** An error as the command ends with it; the exit code follows from the kind of error unless one is given. */
export function errorProblem(error: ErrorEnvelope, exitCode: ExitCode = exitCodeOf(error.code)): CommandProblem {
  return { error, exitCode };
}

export function problem(exitCode: ExitCode, message: string, suggestion: string): CommandProblem {
  return { exitCode, error: errorWords('VALIDATION_ERROR', message, suggestion) };
}

/** The problem of a command line that makes no sense. */
export function usageProblem(message: string, suggestion: string): CommandProblem {
  return problem(EXIT.usage, message, suggestion);
}

/** A word that is not in a closed set; names the nearest one, or all. */
export function unknownWord(what: string, written: unknown, known: readonly string[]): CommandProblem {
  const meant = nearest(String(written), known);
  return usageProblem(
    `Unknown ${what} "${String(written)}".`,
    `${meant === undefined ? '' : `Did you mean ${meant}? `}Choose one of: ${known.join(', ')}.`,
  );
}

export function exitCodeOf(code: ErrorEnvelope['code']): ExitCode {
  switch (code) {
    case 'VALIDATION_ERROR':
      return EXIT.usage;
    case 'SESSION_NOT_FOUND':
    case 'WORKFLOW_NOT_FOUND':
      return EXIT.notFound;
    case 'BUNDLE_INVALID_FORMAT':
    case 'BUNDLE_UNSUPPORTED_VERSION':
    case 'BUNDLE_INTEGRITY_FAILED':
    case 'BUNDLE_MISSING_SNAPSHOT':
    case 'BUNDLE_MISSING_PINNED_WORKFLOW':
    case 'BUNDLE_EVENT_ORDER_INVALID':
    case 'BUNDLE_MANIFEST_ORDER_INVALID':
      return EXIT.checkFailed;
    default:
      return EXIT.failed;
  }
}
