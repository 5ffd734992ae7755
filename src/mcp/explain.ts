import type { AdvanceRefusal } from '../app/advance.ts';
import type { RehydrateRefusal } from '../app/rehydrate.ts';
import type { StartRefusal } from '../app/start-workflow.ts';
import { unreachable } from '../core/assert.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';
import { retryOfTokenRefusal } from '../core/token/token-refusal.ts';
import { explainStore } from './explain-store.ts';
import { explainToken } from './explain-token.ts';
import { explainWorkflow } from './explain-workflow.ts';

/** Everything a tool may refuse. */
export type Refusal =
  | StartRefusal
  | AdvanceRefusal
  | RehydrateRefusal
  | { readonly code: 'token_missing' }
  | { readonly code: 'output_without_ack'; readonly ackToken: string; readonly output: JsonObject };

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const LOCK_RETRY_MS = 500;

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
    case 'output_without_ack':
      return {
        code: 'VALIDATION_ERROR',
        message: 'A stateToken only shows its step again, so the output sent with it was not recorded.',
        suggestion: 'Send the same output together with the ackToken below; nothing else needs to change.',
        retry: NOT_RETRYABLE,
        nextCall: { tool: 'continue_workflow', arguments: { ackToken: refusal.ackToken, output: refusal.output } },
      };
    case 'run_complete':
      return {
        code: 'VALIDATION_ERROR',
        message: `Run ${refusal.tag} (${refusal.workflowId}) is complete; it has no step to report.`,
        suggestion: 'Stop here, or call start_workflow to begin another run.',
        retry: NOT_RETRYABLE,
      };
    case 'attempts_used_up':
      return {
        code: 'VALIDATION_ERROR',
        message: `This step was tried ${refusal.attemptsMax} times, which is as often as a step can be.`,
        suggestion: 'Go on from the last blocked try of it or from an earlier step, or call start_workflow.',
        retry: NOT_RETRYABLE,
      };
    case 'workflow_not_found':
    case 'workflow_unsupported':
    case 'workflow_invalid':
      return explainWorkflow(refusal);
    case 'io_failed':
    case 'busy':
    case 'lock_lost':
    case 'unsafe_permissions':
    case 'damaged':
    case 'unknown_version':
      return explainStore(refusal);
    default:
      return unreachable(refusal);
  }
}
