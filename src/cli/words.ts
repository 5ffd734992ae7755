import type { StoreFailure } from '../app/ports/store-failure.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';
import { type Damage, isLocated } from '../core/log/health.ts';

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
