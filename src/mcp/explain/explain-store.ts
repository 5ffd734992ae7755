import type { GateRefusal } from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import { unreachable } from '../../core/assert.ts';
import { type JsonObject, quote } from '../../core/json/json-value.ts';
import type { Damage } from '../../core/log/health.ts';
import { type Explained, NOT_RETRYABLE } from './corrected-call.ts';
import { explainToken } from './explain-token.ts';
import type { Situation } from './situation.ts';

const IO_RETRY_MS = 1_000;
const BUSY_RETRY_MS = 500;

const RUNNING = { collection: 'gc is running', key_rotation: 'The keys are being rotated' };

/** The words for problems with stored data. Mostly only the user can help. */
export function explainStore(failure: StoreFailure): Explained {
  switch (failure.code) {
    case 'io_failed':
      return {
        code: 'STORE_IO',
        message: `The data directory cannot be used (${failure.operation}: ${failure.cause}).`,
        suggestion: `Ask the user to ${toCheck(failure.cause)}, then send the same call again; nothing is recorded twice.`,
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'busy':
      return {
        code: 'TOKEN_SESSION_LOCKED',
        message: `${RUNNING[failure.running]} in the data directory${by(failure.holder)}. Nothing was recorded.`,
        suggestion: `Send the same call again in ${BUSY_RETRY_MS} ms. If this continues, ask the user which other workrail process is running.`,
        retry: { kind: 'retryable_after_ms', afterMs: BUSY_RETRY_MS },
        nextIntent: 'rehydrate_only',
      };
    case 'lock_lost':
      return {
        code: 'STORE_IO',
        message: `The lock of ${failure.place} was deleted during this call, so it stopped. Nothing was recorded.`,
        suggestion:
          'Ask the user to make sure that no program cleans up in the data directory, then send the same call again.',
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'unsafe_permissions':
      return {
        code: 'STORE_IO',
        message: `Other users of this machine can read ${failure.place} in the data directory (mode ${failure.found}), so it is not used.`,
        suggestion: `Ask the user to run chmod ${failure.wanted} on ${failure.place} in the data directory, then send the same call again.`,
        retry: NOT_RETRYABLE,
      };
    case 'damaged':
      return {
        code: 'STORE_CORRUPT',
        message:
          failure.damage.reason === 'salvaged'
            ? 'This is only part of a session, from a damaged session or an interrupted import.'
            : `Stored data is damaged (${failure.damage.reason} in ${failure.damage.place} at byte ${failure.damage.offset}).`,
        suggestion: CANNOT_CONTINUE,
        retry: NOT_RETRYABLE,
        nextIntent: 'rehydrate_only',
        details: { blockers: [corruption(failure.damage)] },
      };
    case 'unknown_version':
      return {
        code: 'STORE_UNKNOWN_VERSION',
        message: `Stored data has version ${failure.version}, which this server cannot read.`,
        suggestion: 'Ask the user to update workrail, then send the same call again.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(failure);
  }
}

/** What the user can do about a file error. */
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
      return 'remove the file that is in the place of the data directory';
    default:
      return 'check the free space and permissions of the data directory';
  }
}

const CANNOT_CONTINUE =
  'Tell the user that workrail session verify names the damage. This session cannot be continued; start a new run with start_workflow.';

/** The step is not known if the log is damaged. */
const STEP_UNKNOWN = 'unknown';

function corruption({ reason }: Damage): JsonObject {
  return {
    code: 'STORAGE_CORRUPTION_DETECTED',
    pointer: { kind: 'workflow_step', stepId: STEP_UNKNOWN },
    message: `The stored session is damaged (${reason}); nothing was recorded.`,
    suggestedFix: CANNOT_CONTINUE,
  };
}

function by(holder: string | undefined): string {
  return holder === undefined ? '' : ` (${holder})`;
}

type SessionRefusal =
  | Extract<GateRefusal, { code: 'session_locked' }>
  | Extract<ResumeRefusal, { code: 'session_not_found' | 'keys_missing' }>;

const LOCK_RETRY_MS = 500;

/** The words for a session that is locked, missing, or has no keys. */
export function explainSession(refusal: SessionRefusal, situation: Situation): Explained {
  switch (refusal.code) {
    case 'session_locked': {
      const { sessionId, holder = null } = refusal;
      return explainToken({ code: 'TOKEN_SESSION_LOCKED', sessionId, afterMs: LOCK_RETRY_MS, holder }, situation);
    }
    case 'session_not_found':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `No session or run ${quote(refusal.named)} is stored here.`,
        suggestion: 'Send the corrected call, which searches everything that is stored.',
        retry: NOT_RETRYABLE,
        call: { tool: 'resume_session', arguments: withoutIds(situation.sent) },
      };
    case 'keys_missing':
      return {
        code: 'STORE_IO',
        message: 'The keys of the data directory are missing, so no token can be created for its sessions.',
        suggestion: 'Call start_workflow once, which creates new keys. Then send the same call again.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(refusal);
  }
}

function withoutIds({ sessionId: _session, runId: _run, ...sent }: JsonObject): JsonObject {
  return sent;
}
