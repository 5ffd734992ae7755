import type { ByCode } from '../core/assert.ts';
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

/** What a refusal says. By default the command line is invalid, and running it again does not help. */
type RefusalWords = Pick<ErrorEnvelope, 'message' | 'suggestion'> &
  Partial<Pick<ErrorEnvelope, 'code' | 'retry' | 'details'>>;

/** What each refusal says, given the data directory. */
export type RefusalTable<Refused extends { readonly code: string }> = ByCode<Refused, RefusalWords, [string]>;

/** What a command ends with; the exit code follows from the kind of error unless one is given. */
export function errorProblem(words: RefusalWords, exitCode?: ExitCode): CommandProblem {
  const { code = 'VALIDATION_ERROR', message, suggestion, ...more } = words;
  const error: ErrorEnvelope = { code, message, suggestion, retry: { kind: 'not_retryable' }, ...more };
  return { error, exitCode: exitCode ?? EXIT_CODES[code] ?? EXIT.failed };
}

export function problem(exitCode: ExitCode, message: string, suggestion: string): CommandProblem {
  return errorProblem({ message, suggestion }, exitCode);
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

/** What an error makes the process exit with; any other error is a failure. */
const EXIT_CODES: { readonly [code in ErrorEnvelope['code']]?: ExitCode } = {
  VALIDATION_ERROR: EXIT.usage,
  SESSION_NOT_FOUND: EXIT.notFound,
  WORKFLOW_NOT_FOUND: EXIT.notFound,
  BUNDLE_INVALID_FORMAT: EXIT.checkFailed,
  BUNDLE_UNSUPPORTED_VERSION: EXIT.checkFailed,
  BUNDLE_INTEGRITY_FAILED: EXIT.checkFailed,
  BUNDLE_MISSING_SNAPSHOT: EXIT.checkFailed,
  BUNDLE_MISSING_PINNED_WORKFLOW: EXIT.checkFailed,
  BUNDLE_EVENT_ORDER_INVALID: EXIT.checkFailed,
  BUNDLE_MANIFEST_ORDER_INVALID: EXIT.checkFailed,
};
