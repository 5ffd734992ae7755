import type { ExportRefusal } from '../../app/bundle/export-session.ts';
import type { ImportRefusal } from '../../app/bundle/import-session.ts';
import type { GateRefusal, LoadRefusal } from '../../app/ports/session-store.ts';
import type { VerifyRefusal } from '../../app/upkeep/verify-sessions.ts';
import { unreachable } from '../../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import { explainBundle, explainBundleFile } from '../bundle/bundle-words.ts';
import { explainServe, type ServeTrouble } from '../commands/server/serve-words.ts';
import type { FindRefusal } from '../ids.ts';
import { plural, shortList } from '../output/wording.ts';
import type { InputFailure } from '../program.ts';
import { explainStoreFailure } from '../words.ts';

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

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
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
  if (near.length > 0) return `Did you mean ${near.join(' or ')}?`;
  if (untold.length === 0) return 'Type "workrail session list --all" to see every session.';
  const sessions = plural(untold.length, 'session');
  return `${sessions} cannot tell ${untold.length === 1 ? 'its' : 'their'} runs any more; if you mean one, type its id: ${shortList(untold)}.`;
}
