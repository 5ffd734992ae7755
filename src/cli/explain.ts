import type { GateRefusal, LoadRefusal } from '../app/ports/session-store.ts';
import type { VerifyRefusal } from '../app/verify-sessions.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';
import type { FindRefusal } from './find-sessions.ts';

/** Everything a command may refuse. */
export type CommandRefusal = FindRefusal | LoadRefusal | GateRefusal | VerifyRefusal;

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const LOCK_RETRY_MS = 500;
const IO_RETRY_MS = 1_000;

/** The words for a refusal, as a person at a terminal needs them; each ends in what to do next. */
export function explain(refusal: CommandRefusal): ErrorEnvelope {
  switch (refusal.code) {
    case 'session_unmatched':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `There is no session "${refusal.asked}".`,
        suggestion:
          refusal.near.length > 0
            ? `Did you mean ${refusal.near.join(' or ')}?`
            : 'Type "workrail session verify --verbose" to see every session.',
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
        suggestion: 'Type "workrail session verify --verbose" to see every session.',
        retry: NOT_RETRYABLE,
      };
    case 'session_locked':
      return {
        code: 'SESSION_LOCKED',
        message: `Session ${refusal.sessionId} is being written by ${refusal.holder ?? 'another process'}.`,
        suggestion: 'Wait a moment and type the command again; if it stays so, end that process.',
        retry: { kind: 'retryable_after_ms', afterMs: LOCK_RETRY_MS },
      };
    case 'io_failed':
      return {
        code: 'STORE_IO',
        message: `The data directory could not be used (${refusal.operation}: ${refusal.cause} at ${refusal.place}).`,
        suggestion: 'Check the free space and the permissions of the data directory, then type the command again.',
        retry: { kind: 'retryable_after_ms', afterMs: IO_RETRY_MS },
      };
    case 'unsafe_permissions':
      return {
        code: 'STORE_IO',
        message: `Other users of this machine may read ${refusal.place} in the data directory (mode ${refusal.found}), so it is not used.`,
        suggestion: `Type "chmod ${refusal.wanted} ${refusal.place}" in the data directory, then the command again.`,
        retry: NOT_RETRYABLE,
      };
    case 'damaged':
      return {
        code: 'STORE_CORRUPT',
        message: `Stored data is damaged: ${refusal.damage.reason} in ${refusal.damage.place} at byte ${refusal.damage.offset}.`,
        suggestion: 'Put back that file from a backup; type "workrail session verify" to see what else is damaged.',
        retry: NOT_RETRYABLE,
        details: { damage: refusal.damage },
      };
    case 'unknown_version':
      return {
        code: 'STORE_UNKNOWN_VERSION',
        message: `Stored data has version ${refusal.version} in ${refusal.place} at byte ${refusal.offset}, which this program does not know.`,
        suggestion: 'Update workrail, then type the command again.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(refusal);
  }
}

const SHOWN_MAX = 5;

/** Names the first few; a list that fills the screen helps nobody. */
function shortList(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX;
  return more > 0 ? `${names.slice(0, SHOWN_MAX).join(', ')} and ${more} more` : names.join(', ');
}
