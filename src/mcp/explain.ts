import type { AdvanceRefusal } from '../app/advance.ts';
import type { BrokenWorkflow } from '../app/list-workflows.ts';
import type { StartRefusal } from '../app/start-workflow.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';
import { retryOfTokenRefusal, type TokenRefusal } from '../core/token/token-refusal.ts';
import { explainToken } from './explain-token.ts';

/** Everything a tool may refuse. */
export type Refusal = StartRefusal | AdvanceRefusal | TokenRefusal | { readonly code: 'token_missing' };

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const LOCK_RETRY_MS = 500;
const IO_RETRY_MS = 1_000;

/** The words for a refusal, each ending in what to do next. */
export function explain(refusal: Refusal): ErrorEnvelope {
  switch (refusal.code) {
    case 'TOKEN_INVALID_FORMAT':
    case 'TOKEN_UNSUPPORTED_VERSION':
    case 'TOKEN_BAD_SIGNATURE':
    case 'TOKEN_SCOPE_MISMATCH':
    case 'TOKEN_UNKNOWN_NODE':
    case 'TOKEN_WORKFLOW_HASH_MISMATCH':
    case 'TOKEN_SESSION_LOCKED':
      return { ...explainToken(refusal), retry: retryOfTokenRefusal(refusal) };
    case 'session_locked':
      return explain({
        code: 'TOKEN_SESSION_LOCKED',
        sessionId: refusal.sessionId,
        afterMs: LOCK_RETRY_MS,
        holder: refusal.holder ?? null,
      });
    case 'token_missing':
      return {
        code: 'VALIDATION_ERROR',
        message: 'continue_workflow was called without a token.',
        suggestion: 'Send the ackToken of the step you have done, or the stateToken of a step you want to see again.',
        retry: NOT_RETRYABLE,
      };
    case 'run_complete':
      return {
        code: 'VALIDATION_ERROR',
        message: `Run ${refusal.tag} (${refusal.workflowId}) is complete; it has no step to report.`,
        suggestion: 'Stop here, or call start_workflow to begin another run.',
        retry: NOT_RETRYABLE,
      };
    case 'workflow_not_found':
      return {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There is no workflow "${refusal.workflowId}".`,
        suggestion: `Call start_workflow with one of: ${refusal.known.join(', ')}.`,
        retry: NOT_RETRYABLE,
      };
    case 'workflow_invalid':
      return {
        code: 'WORKFLOW_INVALID',
        message: `The file of workflow "${refusal.workflowId}" cannot be used: ${problems(refusal.broken)}.`,
        suggestion: 'Mend the file and start the workflow again, or start another one.',
        retry: NOT_RETRYABLE,
      };
    case 'io_failed':
      return {
        code: 'STORE_IO',
        message: `The data directory could not be used (${refusal.operation}: ${refusal.cause}). Nothing was recorded.`,
        suggestion: 'Ask the user to check free space and permissions of the data directory, then send the same call.',
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'damaged':
      return {
        code: 'STORE_CORRUPT',
        message: `Stored data is damaged (${refusal.damage.reason} in ${refusal.damage.place} at byte ${refusal.damage.offset}). Nothing was recorded.`,
        suggestion: 'Tell the user; this session cannot go on. Start a new run with start_workflow.',
        retry: NOT_RETRYABLE,
      };
    case 'unknown_version':
      return {
        code: 'STORE_UNKNOWN_VERSION',
        message: `Stored data has version ${refusal.version}, which this program does not know.`,
        suggestion: 'Ask the user to update workrail, then send the same call.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(refusal);
  }
}

function problems({ diagnostics }: BrokenWorkflow): string {
  return diagnostics.map(({ pointer, message }) => `${pointer} ${message}`).join('; ');
}
