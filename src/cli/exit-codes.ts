import type { ErrorEnvelope } from '../core/log/error-envelope.ts';

/** What a command line ends with; scripts rely on it. */
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

/** The exit code of a command that ended with this error. */
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
