import type { ExportRefusal } from '../app/bundle/export-session.ts';
import type { ImportRefusal } from '../app/bundle/import-session.ts';
import type { InputFailure } from '../app/ports/bundle-output.ts';
import type { GateRefusal, LoadRefusal } from '../app/ports/session-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import type { VerifyRefusal } from '../app/upkeep/verify-sessions.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';
import { type Damage, isLocated } from '../core/log/health.ts';
import { plural, shortList } from '../core/text/words.ts';
import { explainBundle, explainBundleFile } from './bundle/bundle-words.ts';
import type { FindRefusal } from './ids.ts';
import { type CommandProblem, errorProblem, errorWords } from './problem.ts';
import type { ServeRefusal } from './program.ts';

/** Everything that several commands may refuse. */
export type CommandRefusal =
  | FindRefusal
  | LoadRefusal
  | GateRefusal
  | VerifyRefusal
  | ServeTrouble
  | ExportRefusal
  | ImportRefusal
  | InputFailure;

/** Why a server does not start: the command line makes no sense, or the port cannot be used. */
export type ServeTrouble =
  | { readonly code: 'transport_twice' }
  | { readonly code: 'port_unusable'; readonly asked: string; readonly portMax: number }
  | ServeRefusal;

/** A refusal in words for a person at a terminal, with the exit code of its kind. */
export function refusalProblem(refusal: CommandRefusal, dataDir: string): CommandProblem {
  return errorProblem(explainRefusal(refusal, dataDir));
}

const LIST_ALL = 'Run "workrail session list --all" to see every session.';
const WAIT = 'Wait a moment, then run the command again. If this continues, end that process.';
const BUSY = after(500);
const IO_FAILED = after(1_000);

function after(afterMs: number): { readonly retry: Retry } {
  return { retry: { kind: 'retryable_after_ms', afterMs } };
}

export function explainRefusal(refusal: CommandRefusal, dataDir: string): ErrorEnvelope {
  switch (refusal.code) {
    case 'session_unmatched':
      return {
        ...errorWords('SESSION_NOT_FOUND', `No session matches "${refusal.asked}".`, whatWasMeant(refusal)),
        details: { asked: refusal.asked, near: [...refusal.near] },
      };
    case 'session_ambiguous':
      return {
        ...errorWords(
          'VALIDATION_ERROR',
          `"${refusal.asked}" matches ${refusal.sessionIds.length} sessions.`,
          `Type more of the id: ${shortList(refusal.sessionIds)}.`,
        ),
        details: { asked: refusal.asked, sessionIds: [...refusal.sessionIds] },
      };
    case 'session_not_found':
      return errorWords('SESSION_NOT_FOUND', `Session "${refusal.sessionId}" no longer exists.`, LIST_ALL);
    case 'session_locked': {
      const holder = refusal.holder ?? 'another process';
      return {
        ...errorWords('SESSION_LOCKED', `Session ${refusal.sessionId} is being written by ${holder}.`, WAIT),
        ...BUSY,
      };
    }
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
      return { ...why, message: `${message} The part imported so far is kept read-only as ${refusal.sessionId}.` };
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
  if (untold.length === 0) return LIST_ALL;
  const [sessions, their] = [plural(untold.length, 'session'), untold.length === 1 ? 'its' : 'their'];
  return `The runs of ${sessions} cannot be read. To name one, type ${their} id: ${shortList(untold)}.`;
}

const RUNNING = { collection: 'gc is being run', key_rotation: 'The keys are being rotated' };

function explainStoreFailure(failure: StoreFailure, dataDir: string): ErrorEnvelope {
  switch (failure.code) {
    case 'io_failed':
      return {
        ...errorWords(
          'STORE_IO',
          `The data directory ${dataDir} cannot be used (${failure.operation}: ${failure.cause} at ${failure.place}).`,
          'Check its free space and permissions, then run the command again.',
        ),
        ...IO_FAILED,
      };
    case 'busy': {
      const holder = failure.holder ?? 'another process';
      return {
        ...errorWords('SESSION_LOCKED', `${RUNNING[failure.running]} by ${holder}. Nothing was changed.`, WAIT),
        ...BUSY,
      };
    }
    case 'lock_lost':
      return {
        ...errorWords(
          'STORE_IO',
          `The lock of ${failure.place} was deleted while this command was running, so it stopped. Nothing was changed.`,
          `Make sure that no program cleans up in ${dataDir}, then run the command again.`,
        ),
        ...IO_FAILED,
      };
    case 'unsafe_permissions':
      return errorWords(
        'STORE_IO',
        `Other users of this machine can read ${failure.place} in ${dataDir} (mode ${failure.found}), so it is not used.`,
        `Run "chmod ${failure.wanted} ${failure.place}" in ${dataDir}, then run the command again.`,
      );
    case 'damaged':
      if (failure.damage.reason === 'salvaged') return PART_ONLY;
      return {
        ...errorWords(
          'STORE_CORRUPT',
          `Stored data is damaged: ${failure.damage.reason} in ${placeOf(failure.damage)}.`,
          `Restore that file in ${dataDir} from a backup. Run "workrail session verify" to see all damage.`,
        ),
        details: { reason: failure.damage.reason, offset: failure.damage.offset },
      };
    case 'unknown_version':
      return errorWords(
        'STORE_UNKNOWN_VERSION',
        `Stored data has version ${failure.version} in ${failure.place} at byte ${failure.offset}, which this workrail cannot read.`,
        'Update workrail, then run the command again.',
      );
    default:
      return unreachable(failure);
  }
}

const PART_ONLY: ErrorEnvelope = {
  ...errorWords(
    'STORE_CORRUPT',
    'This is only part of a session, from a damaged session or an interrupted import. It can be read and exported, but not continued.',
    'Import a bundle of the whole session, or start a new run.',
  ),
  details: { reason: 'salvaged' },
};

function placeOf({ reason, place, offset }: Damage): string {
  return isLocated(reason) ? `${place} at byte ${offset}` : place;
}

const ANY_PORT = 'Run "workrail serve --http 0" to use any free port.';

function explainServe(trouble: ServeTrouble): ErrorEnvelope {
  switch (trouble.code) {
    case 'transport_twice':
      return errorWords(
        'VALIDATION_ERROR',
        'A server uses either stdio or HTTP, not both.',
        'Run "workrail serve" for stdio, or "workrail serve --http" for HTTP.',
      );
    case 'port_unusable':
      return errorWords(
        'VALIDATION_ERROR',
        `A port is a number from 0 to ${trouble.portMax}, not "${trouble.asked}".`,
        'Run "workrail serve --http" for the default port, or "workrail serve --http 0" for any free one.',
      );
    case 'port_taken':
      return errorWords(
        'VALIDATION_ERROR',
        `Port ${trouble.port} is in use, perhaps by another WorkRail server.`,
        ANY_PORT,
      );
    case 'port_refused':
      return errorWords('VALIDATION_ERROR', `Port ${trouble.port} cannot be used (${trouble.cause}).`, ANY_PORT);
    default:
      return unreachable(trouble);
  }
}
