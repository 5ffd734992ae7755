import type { ExportRefusal } from '../app/bundle/export-session.ts';
import type { ImportRefusal } from '../app/bundle/import-session.ts';
import type { GateRefusal, LoadRefusal } from '../app/ports/session-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import type { VerifyRefusal } from '../app/upkeep/verify-sessions.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';
import { type Damage, isLocated } from '../core/log/health.ts';
import { orList, plural, shortList } from '../core/text/words.ts';
import { explainBundle, explainBundleFile } from './bundle/bundle-words.ts';
import type { FindRefusal } from './ids.ts';
import type { InputFailure, ServeRefusal } from './program.ts';

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const BUSY_RETRY_MS = 500;
const IO_RETRY_MS = 1_000;

const RUNNING = { collection: 'Old sessions are being collected', key_rotation: 'The keys are being rotated' };

/** The words for trouble with what is stored, as a person at a terminal needs them. */
export function explainStoreFailure(failure: StoreFailure, dataDir: string): ErrorEnvelope {
  switch (failure.code) {
    case 'io_failed':
      return {
        code: 'STORE_IO',
        message: `The data directory ${dataDir} could not be used (${failure.operation}: ${failure.cause} at ${failure.place}).`,
        suggestion: 'Check its free space and permissions, then type the command again.',
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'busy':
      return {
        code: 'SESSION_LOCKED',
        message: `${RUNNING[failure.running]} by ${failure.holder ?? 'another process'}. Nothing was changed.`,
        suggestion: 'Wait a moment and type the command again; if it stays so, end that process.',
        retry: { kind: 'retryable_after_ms', afterMs: BUSY_RETRY_MS },
      };
    case 'lock_lost':
      return {
        code: 'STORE_IO',
        message: `The lock of ${failure.place} was deleted while this command was at work, so it stopped. Nothing was changed.`,
        suggestion: `Let no program clean up in ${dataDir}, then type the command again.`,
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'unsafe_permissions':
      return {
        code: 'STORE_IO',
        message: `Other users of this machine may read ${failure.place} in ${dataDir} (mode ${failure.found}), so it is not used.`,
        suggestion: `Type "chmod ${failure.wanted} ${failure.place}" in ${dataDir}, then the command again.`,
        retry: NOT_RETRYABLE,
      };
    case 'damaged':
      if (failure.damage.reason === 'salvaged') return PART_ONLY;
      return {
        code: 'STORE_CORRUPT',
        message: `Stored data is damaged: ${failure.damage.reason} in ${placeOf(failure.damage)}.`,
        suggestion: `Put that file back into ${dataDir} from a backup; type "workrail session verify" to see what else is damaged.`,
        retry: NOT_RETRYABLE,
        details: { reason: failure.damage.reason, offset: failure.damage.offset },
      };
    case 'unknown_version':
      return {
        code: 'STORE_UNKNOWN_VERSION',
        message: `Stored data has version ${failure.version} in ${failure.place} at byte ${failure.offset}, which this program does not know.`,
        suggestion: 'Update workrail, then type the command again.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(failure);
  }
}

const PART_ONLY: ErrorEnvelope = {
  code: 'STORE_CORRUPT',
  message:
    'This is only part of a session, from a damaged one or an import that broke off: it can be read and exported, and never goes on.',
  suggestion: 'Import a bundle of the whole session, or begin a new run.',
  retry: NOT_RETRYABLE,
  details: { reason: 'salvaged' },
};

function placeOf({ reason, place, offset }: Damage): string {
  return isLocated(reason) ? `${place} at byte ${offset}` : place;
}

/** Why MCP is not served: the command line makes no sense, or the machine does not let us. */
export type ServeTrouble =
  | { readonly code: 'transport_twice' }
  | { readonly code: 'port_unusable'; readonly asked: string; readonly portMax: number }
  | ServeRefusal;
const ANY_PORT = 'Type "workrail serve --http 0" to take any port that is free.';

/** The words for a server that does not start. */
function explainServe(trouble: ServeTrouble): ErrorEnvelope {
  switch (trouble.code) {
    case 'transport_twice':
      return {
        code: 'VALIDATION_ERROR',
        message: 'A server uses standard input and output or HTTP, not both.',
        suggestion: 'Type "workrail serve" for the first, or "workrail serve --http" for the second.',
        retry: NOT_RETRYABLE,
      };
    case 'port_unusable':
      return {
        code: 'VALIDATION_ERROR',
        message: `"${trouble.asked}" is no port; one is a number up to ${trouble.portMax}.`,
        suggestion:
          'Type "workrail serve --http" for the usual one, or "workrail serve --http 0" for any that is free.',
        retry: NOT_RETRYABLE,
      };
    case 'port_taken':
      return {
        code: 'VALIDATION_ERROR',
        message: `Another program uses port ${trouble.port}, maybe a server that runs already.`,
        suggestion: ANY_PORT,
        retry: NOT_RETRYABLE,
      };
    case 'port_refused':
      return {
        code: 'VALIDATION_ERROR',
        message: `Port ${trouble.port} cannot be used (${trouble.cause}).`,
        suggestion: ANY_PORT,
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(trouble);
  }
}

/** Everything a command may refuse. */
export type CommandRefusal =
  | FindRefusal
  | LoadRefusal
  | GateRefusal
  | VerifyRefusal
  | ServeTrouble
  | ExportRefusal
  | ImportRefusal
  | InputFailure;
const LOCK_RETRY_MS = 500;

/** The words for a refusal, as a person at a terminal needs them; each ends in what to do next. */
export function explainRefusal(refusal: CommandRefusal, dataDir: string): ErrorEnvelope {
  switch (refusal.code) {
    case 'session_unmatched':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `There is no session "${refusal.asked}".`,
        suggestion: whatWasMeant(refusal),
        retry: NOT_RETRYABLE,
        details: { asked: refusal.asked, near: [...refusal.near] },
      };
    case 'session_ambiguous':
      return {
        code: 'VALIDATION_ERROR',
        message: `"${refusal.asked}" fits ${refusal.sessionIds.length} sessions.`,
        suggestion: `Type more of the one you mean: ${shortList(refusal.sessionIds)}.`,
        retry: NOT_RETRYABLE,
        details: { asked: refusal.asked, sessionIds: [...refusal.sessionIds] },
      };
    case 'session_not_found':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `There is no session "${refusal.sessionId}" any more.`,
        suggestion: 'Type "workrail session list --all" to see every session.',
        retry: NOT_RETRYABLE,
      };
    case 'session_locked':
      return {
        code: 'SESSION_LOCKED',
        message: `Session ${refusal.sessionId} is being written by ${refusal.holder ?? 'another process'}.`,
        suggestion: 'Wait a moment and type the command again; if it stays so, end that process.',
        retry: { kind: 'retryable_after_ms', afterMs: LOCK_RETRY_MS },
      };
    case 'transport_twice':
    case 'port_unusable':
    case 'port_taken':
    case 'port_refused':
      return explainServe(refusal);
    case 'BUNDLE_INVALID_FORMAT':
    case 'BUNDLE_UNSUPPORTED_VERSION':
    case 'BUNDLE_INTEGRITY_FAILED':
    case 'BUNDLE_MISSING_SNAPSHOT':
    case 'BUNDLE_MISSING_PINNED_WORKFLOW':
    case 'BUNDLE_EVENT_ORDER_INVALID':
    case 'BUNDLE_MANIFEST_ORDER_INVALID':
      return explainBundle(refusal);
    case 'input_failed':
    case 'input_too_large':
    case 'output_failed':
    case 'session_too_large':
      return explainBundleFile(refusal);
    case 'import_unfinished': {
      const { message, ...why } = explainStoreFailure(refusal.cause, dataDir);
      return { ...why, message: `${message} What came in before is kept as ${refusal.sessionId}, for reading only.` };
    }
    case 'io_failed':
    case 'busy':
    case 'lock_lost':
    case 'unsafe_permissions':
    case 'damaged':
    case 'unknown_version':
      return explainStoreFailure(refusal, dataDir);
    default:
      return unreachable(refusal);
  }
}

function whatWasMeant({ near, untold }: Extract<FindRefusal, { code: 'session_unmatched' }>): string {
  if (near.length > 0) return `Did you mean ${orList(near)}?`;
  if (untold.length === 0) return 'Type "workrail session list --all" to see every session.';
  const sessions = plural(untold.length, 'session');
  return `${sessions} cannot tell ${untold.length === 1 ? 'its' : 'their'} runs any more; if you mean one, type its id: ${shortList(untold)}.`;
}
