import type { ExportRefusal } from '../app/bundle/export-session.ts';
import type { ImportRefusal } from '../app/bundle/import-session.ts';
import type { InputFailure, SealFailure } from '../app/ports/bundle-output.ts';
import type { GateRefusal, LoadRefusal } from '../app/ports/session-store.ts';
import {
  KEYRING_PLACE,
  ROLE_REFUSED,
  type StoreFailure,
  sqlStateWords,
  WRONG_KIND,
} from '../app/ports/store-failure.ts';
import type { VerifyRefusal } from '../app/upkeep/verify-sessions.ts';
import { byCode } from '../core/assert.ts';
import type { Retry } from '../core/log/error-envelope.ts';
import { isLocated } from '../core/log/health.ts';
import { plural, shortList, sizeOf } from '../core/text/words.ts';
import { BUNDLE_FILE_REFUSALS, BUNDLE_REFUSALS } from './bundle/bundle-words.ts';
import { type CommandProblem, errorProblem, type RefusalTable } from './problem.ts';
import type { ServeRefusal } from './program.ts';
import type { FindRefusal } from './session-ids.ts';

/** Everything that several commands may refuse. */
export type CommandRefusal =
  | FindRefusal
  | LoadRefusal
  | GateRefusal
  | VerifyRefusal
  | ServeTrouble
  | ExportRefusal
  | ImportRefusal
  | InputFailure
  | SealFailure;

/** Why a server does not start: the command line makes no sense, or the port cannot be used. */
export type ServeTrouble =
  | { readonly code: 'transport_twice' }
  | { readonly code: 'port_unusable'; readonly asked: string; readonly portMax: number }
  | ServeRefusal;

/** A refusal in words for a person at a terminal, with the exit code of its kind. */
export function refusalProblem(refusal: CommandRefusal, dataDir: string): CommandProblem {
  return errorProblem(byCode(REFUSALS, refusal, dataDir));
}

const LIST_ALL = 'Run "workrail session list --all" to see every session.';
const WAIT = 'Wait a moment, then run the command again. If this continues, end that process.';
const ANY_PORT = 'Port 0 chooses any free port: "workrail serve --http 0".';
const CONSOLE_PORT = 'Port 0 chooses any free port: "workrail console --port 0".';
const RUNNING = { collection: 'gc is being run', key_rotation: 'The keys are being rotated' };
const BUSY: Retry = { kind: 'retryable_after_ms', afterMs: 500 };
const IO_FAILED: Retry = { kind: 'retryable_after_ms', afterMs: 1_000 };

/** What to do about a file that is not what it must be. */
function wrongKindWords(place: string, cause: string): string | undefined {
  const wrong = WRONG_KIND[cause];
  if (wrong === undefined) return undefined;
  const where = cause === 'ENOTDIR' ? `Part of the path ${place}` : place;
  return `${where} must be a ${wrong.wanted}, but ${wrong.found} is there. Move it away`;
}

function whatToCheck(cause: string): string {
  return cause === 'EMFILE' ? 'Raise the limit on open files (ulimit -n)' : 'Check its free space and permissions';
}

const STORE_FAILURES: RefusalTable<StoreFailure> = {
  io_failed: ({ operation, cause, place }, dataDir) => ({
    code: 'STORE_IO',
    message: `The data directory ${dataDir} cannot be used (${operation}: ${cause} at ${place}).`,
    suggestion: `${wrongKindWords(place, cause) ?? whatToCheck(cause)}, then run the command again.`,
    retry: IO_FAILED,
  }),
  busy: ({ running, holder = 'another process' }) => ({
    code: 'SESSION_LOCKED',
    message: `${RUNNING[running]} by ${holder}. Nothing was changed.`,
    suggestion: WAIT,
    retry: BUSY,
  }),
  lock_lost: ({ place }, dataDir) => ({
    code: 'STORE_IO',
    message: `The lock of ${place} was deleted while this command was running, so it stopped. Nothing was changed.`,
    suggestion: `Make sure that no program cleans up in ${dataDir}, then run the command again.`,
    retry: IO_FAILED,
  }),
  limit_reached: ({ setting, maxMiB }) => ({
    code: 'STORE_IO',
    message: `This would store more than the ${maxMiB} MiB that the setting ${setting} allows. Nothing was changed.`,
    suggestion: `Run "workrail config set ${setting} ${2 * maxMiB}" to raise the limit, then run the command again.`,
    details: { setting, maxMiB },
  }),
  unreachable: ({ operation, retryAfterMs: afterMs }) => ({
    code: 'STORE_IO',
    message: `The database does not answer (${operation}). Only what this command has reported was changed.`,
    suggestion: 'Check the database URL and that the server accepts connections, then run the command again.',
    retry: { kind: 'retryable_after_ms', afterMs },
  }),
  database_refused: ({ operation, cause }) => ({
    code: 'STORE_IO',
    message: `The database did not do this (${operation}: ${sqlStateWords(cause)}). Only what this command has reported was changed.`,
    suggestion:
      cause === ROLE_REFUSED
        ? 'Use the role that owns the tables for this command. For the role of a server, its owner runs "workrail migrate --server-role ROLE".'
        : 'Look at the log of the database server, then run the command again.',
    retry: IO_FAILED,
  }),
  store_went_back: ({ sessionId, known, found }) => ({
    code: 'STORE_CORRUPT',
    message: `The database has lost events of ${sessionId}: it has ${found}, and had ${known} before.`,
    suggestion: 'Find out whether a standby took over or a backup was restored. Steps that were acknowledged are gone.',
    details: { known, found },
  }),
  master_key_unfit: () => ({
    code: 'STORE_IO',
    message: 'No key in the master key file opens the keys in this database. No session is damaged.',
    suggestion: 'Name the file that "serve --team" uses with --master-key-file, then run the command again.',
  }),
  unsafe_permissions: ({ place, found, wanted }, dataDir) => ({
    code: 'STORE_IO',
    message: `Other users of this machine can read ${place} in ${dataDir} (mode ${found}), so it is not used.`,
    suggestion: `Run "chmod ${wanted} ${place}" in ${dataDir}, then run the command again.`,
  }),
  damaged: ({ damage: { reason, place, offset } }, dataDir) =>
    reason === 'salvaged'
      ? PART_ONLY
      : place === KEYRING_PLACE
        ? DAMAGED_KEYRING
        : {
            code: 'STORE_CORRUPT',
            message: `Stored data is damaged: ${reason} in ${isLocated(reason) ? `${place} at byte ${offset}` : place}.`,
            suggestion: PINNED.test(place)
              ? `Restore that file in ${dataDir} from a backup. If a workflow source still has that exact version, the agent's next step stores it again.`
              : `Restore that file in ${dataDir} from a backup. Run "workrail session verify" to see all damage.`,
            details: { reason, offset },
          },
  unknown_version: ({ version, place, offset }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `Stored data has version ${version} in ${place} at byte ${offset}, which this workrail cannot read.`,
    suggestion: 'Update workrail, then run the command again.',
  }),
};

/** Where the workflows are stored that runs are pinned to. */
const PINNED = /^workflows[\\/]pinned[\\/]/;

const DAMAGED_KEYRING = {
  code: 'STORE_CORRUPT',
  message: 'The keys that sign tokens are damaged. No session is damaged.',
  suggestion: 'Restore keys/keyring.json from a backup, or run "workrail keys repair" to make new keys.',
} as const;

const PART_ONLY = {
  code: 'STORE_CORRUPT',
  message:
    'This is only part of a session, from a damaged session or an interrupted import. It can be read and exported, but not continued.',
  suggestion:
    'Import a bundle of the whole session, or run "workrail session fork-from-valid ID" to continue from this part in a new session.',
  details: { reason: 'salvaged' },
} as const;

/** The same problem for the console, which has a port of its own. */
export function consolePortProblem(found: CommandProblem): CommandProblem {
  const { error } = found;
  return error.suggestion === ANY_PORT ? { ...found, error: { ...error, suggestion: CONSOLE_PORT } } : found;
}

const REFUSALS: RefusalTable<CommandRefusal> = {
  ...STORE_FAILURES,
  ...BUNDLE_REFUSALS,
  ...BUNDLE_FILE_REFUSALS,
  session_unmatched: (refusal, dataDir) => ({
    code: 'SESSION_NOT_FOUND',
    message: `No session in ${dataDir} matches "${refusal.asked}".`,
    suggestion: whatWasMeant(refusal),
    details: { asked: refusal.asked, near: [...refusal.near] },
  }),
  session_ambiguous: ({ asked, sessionIds }) => ({
    message: `"${asked}" matches ${sessionIds.length} sessions.`,
    suggestion: `Type more of the id: ${shortList(sessionIds)}.`,
    details: { asked, sessionIds: [...sessionIds] },
  }),
  session_not_found: ({ sessionId }) => ({
    code: 'SESSION_NOT_FOUND',
    message: `Session "${sessionId}" no longer exists.`,
    suggestion: LIST_ALL,
  }),
  not_owner: ({ owner }) => ({
    code: 'FORBIDDEN',
    message: `In this space only ${owner} may continue this run.`,
    suggestion: 'Have it handed over: workrail session hand-over',
  }),
  space_full: ({ limit, max }) => ({
    code: 'STORE_IO',
    message: `The space holds as much as it may (${limit === 'bytesMax' ? sizeOf(max) : plural(max, 'open session')}).`,
    suggestion: 'Raise the limit with "workrail space set", or delete sessions with "workrail space gc".',
  }),
  session_locked: ({ sessionId, holder = 'another process' }) => ({
    code: 'SESSION_LOCKED',
    message: `Session ${sessionId} is being written by ${holder}.`,
    suggestion: WAIT,
    retry: BUSY,
  }),
  import_unfinished: ({ cause, sessionId }, dataDir) => {
    const { message, ...why } = byCode(STORE_FAILURES, cause, dataDir);
    return { ...why, message: `${message} The part imported so far is kept read-only as ${sessionId}.` };
  },
  nothing_to_update: ({ from }) => ({
    code: 'SESSION_NOT_FOUND',
    message: `No session here is an earlier state of ${from}: it was not imported before, or it was continued here. Nothing was written.`,
    suggestion: 'Import it as a session of its own: run the command without --update.',
    details: { from },
  }),
  update_or_copy: ({ sessionId, newEvents }) => ({
    message: `This session was imported before as ${sessionId} and not changed here; ${plural(newEvents, 'event is', 'events are')} new. Nothing was written.`,
    suggestion: 'To add what is new, run the command with --update. To make a second session, run it with --copy.',
    details: { sessionId, newEvents },
  }),
  changed_meanwhile: ({ sessionId }) => ({
    code: 'SESSION_LOCKED',
    message: `Session ${sessionId} was changed while the bundle was checked. Nothing was written.`,
    suggestion: 'Run the command again.',
    retry: BUSY,
  }),
  transport_twice: () => ({
    message: 'A server uses either stdio or HTTP, not both.',
    suggestion: 'Run "workrail serve" for stdio, or "workrail serve --http" for HTTP.',
  }),
  port_unusable: ({ portMax, asked }) => ({
    message: `A port is a number from 0 to ${portMax}, not "${asked}".`,
    suggestion: ANY_PORT,
  }),
  port_taken: ({ port }) => ({
    message: `Port ${port} is in use, perhaps by another WorkRail server.`,
    suggestion: ANY_PORT,
  }),
  secret_failed: ({ file, cause }) => ({
    message: `The token of the HTTP server in ${file} cannot be used (${cause}).`,
    suggestion: 'Remove the file; the next start makes a new one. Then register the server again.',
  }),
  port_refused: ({ port, cause }) => ({
    message: `Port ${port} cannot be used (${cause}).`,
    suggestion: ANY_PORT,
  }),
};

function whatWasMeant({ near, untold }: Extract<FindRefusal, { code: 'session_unmatched' }>): string {
  if (near.length > 0) return `Did you mean ${near.join(' or ')}?`;
  if (untold.length === 0) return LIST_ALL;
  const [sessions, their] = [plural(untold.length, 'session'), untold.length === 1 ? 'its' : 'their'];
  return `The runs of ${sessions} cannot be read. To name one, type ${their} id: ${shortList(untold)}.`;
}
