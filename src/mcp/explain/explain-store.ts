import type { GateRefusal } from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import { unreachable } from '../../core/assert.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { quote } from '../../core/json/quote.ts';
import type { Damage } from '../../core/log/health.ts';
import { type Explained, NOT_RETRYABLE } from './corrected-call.ts';
import { explainToken } from './explain-token.ts';
import type { Situation } from './situation.ts';

const IO_RETRY_MS = 1_000;
const BUSY_RETRY_MS = 500;

const RUNNING = { collection: 'Old sessions are being collected', key_rotation: 'The keys are being rotated' };

/** The words for trouble with what is stored. Mostly only the user can help. */
export function explainStore(failure: StoreFailure): Explained {
  switch (failure.code) {
    case 'io_failed':
      return {
        code: 'STORE_IO',
        message: `The data directory could not be used (${failure.operation}: ${failure.cause}).`,
        suggestion: `Ask the user to ${toCheck(failure.cause)}, then send the same call; nothing is recorded twice.`,
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'busy':
      return {
        code: 'TOKEN_SESSION_LOCKED',
        message: `${RUNNING[failure.running]} in the data directory${by(failure.holder)}. Nothing was recorded.`,
        suggestion: `Send the same call again in ${BUSY_RETRY_MS} ms. If this goes on, ask the user which other workrail process is at work.`,
        retry: { kind: 'retryable_after_ms', afterMs: BUSY_RETRY_MS },
        nextIntent: 'rehydrate_only',
      };
    case 'lock_lost':
      return {
        code: 'STORE_IO',
        message: `The lock of ${failure.place} was deleted while this call was at work, so it stopped. Nothing was recorded.`,
        suggestion: 'Ask the user to let no program clean up in the data directory, then send the same call.',
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'unsafe_permissions':
      return {
        code: 'STORE_IO',
        message: `Other users of this machine may read ${failure.place} in the data directory (mode ${failure.found}), so it is not used.`,
        suggestion: `Ask the user to run chmod ${failure.wanted} on ${failure.place} in the data directory, then send the same call.`,
        retry: NOT_RETRYABLE,
      };
    case 'damaged':
      return {
        code: 'STORE_CORRUPT',
        message:
          failure.damage.reason === 'salvaged'
            ? 'This is only part of a session, from a damaged one or an import that broke off.'
            : `Stored data is damaged (${failure.damage.reason} in ${failure.damage.place} at byte ${failure.damage.offset}).`,
        suggestion: CANNOT_GO_ON,
        retry: NOT_RETRYABLE,
        nextIntent: 'rehydrate_only',
        details: { blockers: [corruption(failure.damage)] },
      };
    case 'unknown_version':
      return {
        code: 'STORE_UNKNOWN_VERSION',
        message: `Stored data has version ${failure.version}, which this program does not know.`,
        suggestion: 'Ask the user to update workrail, then send the same call.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(failure);
  }
}

/** What a person can do about the error that a file operation gave. */
function toCheck(cause: string): string {
  switch (cause) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'free space on the disk of the data directory';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'make the data directory writable for their account';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'put a folder where the data directory is to be: something else is in its way';
    default:
      return 'check free space and permissions of the data directory';
  }
}

const CANNOT_GO_ON =
  'Tell the user that workrail session verify names the damage. This session cannot go on; begin a new run with start_workflow.';

/** A damaged log cannot be asked which step it was about. */
const STEP_UNKNOWN = 'unknown';

function corruption({ reason }: Damage): JsonObject {
  return {
    code: 'STORAGE_CORRUPTION_DETECTED',
    pointer: { kind: 'workflow_step', stepId: STEP_UNKNOWN },
    message: `The stored session is damaged (${reason}); nothing was recorded.`,
    suggestedFix: CANNOT_GO_ON,
  };
}

function by(holder: string | undefined): string {
  return holder === undefined ? '' : ` (${holder})`;
}

type SessionRefusal =
  | Extract<GateRefusal, { code: 'session_locked' }>
  | Extract<ResumeRefusal, { code: 'session_not_found' | 'keys_missing' }>;

const LOCK_RETRY_MS = 500;

/** The words for a session that cannot be had, now or at all. */
export function explainSession(refusal: SessionRefusal, situation: Situation): Explained {
  switch (refusal.code) {
    case 'session_locked': {
      const { sessionId, holder = null } = refusal;
      return explainToken({ code: 'TOKEN_SESSION_LOCKED', sessionId, afterMs: LOCK_RETRY_MS, holder }, situation);
    }
    case 'session_not_found':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `Nothing is stored under ${quote(refusal.named)}.`,
        suggestion: 'Send the corrected call: without an id it looks through everything that is stored.',
        retry: NOT_RETRYABLE,
        call: { tool: 'resume_session', arguments: withoutIds(situation.sent) },
      };
    case 'keys_missing':
      return {
        code: 'STORE_IO',
        message: 'The keys of the data directory are gone, so no token can be made for what is stored there.',
        suggestion: 'Call start_workflow once, which makes new keys; then send the same call.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(refusal);
  }
}

function withoutIds({ sessionId: _session, runId: _run, ...sent }: JsonObject): JsonObject {
  return sent;
}
