import {
  KEYRING_PLACE,
  type StoreFailure,
  type StoreLimit,
  sqlStateWords,
  WRONG_KIND,
} from '../../app/ports/store-failure.ts';
import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import { quote } from '../../core/json/json-value.ts';
import type { Damage } from '../../core/log/health.ts';
import { verifyCommand } from '../../core/prompt/reply-warnings.ts';
import { plural, sizeOf } from '../../core/text/words.ts';
import type { SpaceLimits } from '../../core/wire/team-paths.ts';
import { retryAfter, type Words, type WordsFor } from './corrected-call.ts';

const IO_RETRY_MS = 1_000;
const BUSY_RETRY_MS = 500;

const RUNNING = { collection: 'gc is running', key_rotation: 'The keys are being rotated' };

const TOO_MUCH: { readonly [setting in StoreLimit]: (size: string) => string } = {
  'store.sessionMiB': (size) => `With this call the session would be larger than ${size}`,
  'store.dailyMiB': (size) => `With this call the data directory would have grown by more than ${size} today (UTC)`,
};

/** What a damaged session still allows. Only a person can decide it. */
function howToGoOn(place: string): string {
  const [sessionId = 'ID'] = /sess_[0-9a-z]+/.exec(place) ?? [];
  return `This session cannot be continued. Tell the user that workrail session verify names the damage and that workrail session fork-from-valid ${sessionId} makes a new session from the intact part; after that, call resume_session. Otherwise start a new run with start_workflow.`;
}

/** Where the workflows are stored that runs are pinned to. */
const PINNED = /^workflows[\\/]pinned[\\/]/;

function lostWorkflow({ reason, place }: Damage): Words {
  const lost = reason === 'content_missing' ? 'missing' : 'damaged';
  return {
    code: 'STORE_CORRUPT',
    message: `The stored workflow of this run is ${lost} (${place}), and no workflow source has that exact version. The session itself is intact; nothing was recorded.`,
    suggestion:
      'Ask the user to restore that file from a backup, or the source file of the workflow as it was when the run started. Then send the same call again. To use the current version instead, call start_workflow with attachTo set to a token of this run.',
    nextIntent: 'rehydrate_only',
    details: {
      blockers: [
        corruptionBlocker(`The stored workflow is ${lost}`, 'Restore the workflow, then send the same call again.'),
      ],
    },
  };
}

function corruptionBlocker(damaged: string, suggestedFix: string) {
  return {
    code: 'STORAGE_CORRUPTION_DETECTED',
    // The step is not known if the log is damaged.
    pointer: { kind: 'workflow_step', stepId: 'unknown' },
    message: `${damaged}; nothing was recorded.`,
    suggestedFix,
  };
}

const DAMAGED_KEYRING: Words = {
  code: 'STORE_CORRUPT',
  message: 'The keys that sign tokens are damaged. No session is damaged, and nothing was recorded.',
  suggestion:
    'Ask the user to run "workrail keys repair" in a terminal. After that, all earlier tokens are invalid; call resume_session to get new ones for your run.',
};

/** The words for problems with stored data. Mostly only the user can help. */
export const STORE_WORDS: WordsFor<StoreFailure> = {
  io_failed: ({ operation, cause, place }) => ({
    code: 'STORE_IO',
    message: `The data directory cannot be used (${operation}: ${cause}).`,
    suggestion: `Ask the user to ${TO_CHECK[cause] ?? moveAway(place, cause) ?? 'check the free space and permissions of the data directory'}, then send the same call again; nothing is recorded twice.`,
    retry: retryAfter(IO_RETRY_MS),
  }),
  busy: ({ running, holder }) => ({
    code: 'TOKEN_SESSION_LOCKED',
    message: `${RUNNING[running]} in the data directory${holder === undefined ? '' : ` (${holder})`}. Nothing was recorded.`,
    suggestion: `Send the same call again in ${BUSY_RETRY_MS} ms. If this continues, ask the user which other workrail process is running.`,
    retry: retryAfter(BUSY_RETRY_MS),
    nextIntent: 'rehydrate_only',
  }),
  lock_lost: ({ place }) => ({
    code: 'STORE_IO',
    message: `The lock of ${place} was deleted during this call, so it stopped. Nothing was recorded.`,
    suggestion:
      'Ask the user to make sure that no program cleans up in the data directory, then send the same call again.',
    retry: retryAfter(IO_RETRY_MS),
  }),
  limit_reached: ({ setting, maxMiB }) => ({
    code: 'STORE_IO',
    message: `${TOO_MUCH[setting](`${maxMiB} MiB`)}, the limit of the setting ${setting}. Nothing was recorded.`,
    suggestion: `Stop and ask the user. "workrail config set ${setting} ${2 * maxMiB}" raises the limit at once; then send the same call again. Smaller artifacts may fit without that.`,
    details: { setting, maxMiB },
  }),
  unreachable: ({ operation, retryAfterMs }) => ({
    code: 'STORE_IO',
    message: `The database does not answer (${operation}). What was acknowledged before is not lost.`,
    suggestion: `Send the same call again in ${retryAfterMs} ms; nothing is recorded twice. If this continues, tell the user that the database cannot be reached.`,
    retry: retryAfter(retryAfterMs),
  }),
  database_refused: ({ operation, cause }) => ({
    code: 'STORE_IO',
    message: `The database did not save or read anything (${operation}: ${sqlStateWords(cause)}). What was acknowledged before is not lost.`,
    suggestion:
      'Tell the user that an administrator of the team server must look at the database. Then send the same call again; nothing is recorded twice.',
    retry: retryAfter(IO_RETRY_MS),
  }),
  store_went_back: ({ known, found }) => ({
    code: 'STORE_CORRUPT',
    message: `The database has lost events of this session: it has ${found}, and had ${known} before. Steps that were acknowledged may be gone.`,
    suggestion:
      'Tell the user, and call resume_session to see where the run is now. Do the lost steps again only if the user agrees.',
    nextIntent: 'rehydrate_only',
    details: { known, found },
  }),
  master_key_unfit: () => ({
    code: 'STORE_IO',
    message:
      'The master key of the team server does not fit its database, so no token can be checked or created. No session is damaged, and nothing was recorded.',
    suggestion:
      'Stop and tell the user that the operator of the team server must start it with the right master key (--master-key-file). Then send the same call again.',
  }),
  unsafe_permissions: ({ place, found, wanted }) => ({
    code: 'STORE_IO',
    message: `Other users of this machine can read ${place} in the data directory (mode ${found}), so it is not used.`,
    suggestion: `Ask the user to run chmod ${wanted} on ${place} in the data directory, then send the same call again.`,
  }),
  damaged: ({ damage }) => {
    const { reason, place, offset } = damage;
    if (place === KEYRING_PLACE) return DAMAGED_KEYRING;
    // A wrong shape cannot be fixed by storing the same workflow again.
    if (PINNED.test(place) && reason !== 'content_wrong_shape') return lostWorkflow(damage);
    const suggestion = howToGoOn(place);
    return {
      code: 'STORE_CORRUPT',
      message:
        reason === 'salvaged'
          ? 'This is only part of a session, from a damaged session or an interrupted import.'
          : `Stored data is damaged (${reason} in ${place} at byte ${offset}).`,
      suggestion,
      nextIntent: 'rehydrate_only',
      details: { blockers: [corruptionBlocker(`The stored session is damaged (${reason})`, suggestion)] },
    };
  },
  unknown_version: ({ version }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `Stored data has version ${version}, which this server cannot read.`,
    suggestion: 'Ask the user to update workrail, then send the same call again.',
  }),
};

/** What a space holds at most. Runs in progress are continued until it is too large. */
export const SPACE_FULL_WORDS: {
  readonly [limit in keyof SpaceLimits]: (max: number) => Pick<Words, 'message' | 'suggestion'>;
} = {
  openSessionsMax: (max) => ({
    message: `This space already has ${plural(max, 'open session')}, its limit, so no new one was started. Runs in progress can still be continued.`,
    suggestion:
      'Tell the user that sessions must be finished, closed or deleted first, or that an admin of the space can raise the limit: workrail space set SPACE --max-sessions COUNT. Then send the same call again.',
  }),
  bytesMax: (max) => ({
    message: `This space has reached its size limit of ${sizeOf(max)}. Nothing was recorded, and nothing that was recorded before is lost.`,
    suggestion:
      'Stop and ask the user to have an admin of the space raise the limit (workrail space set SPACE --max-size GB) or delete old sessions (workrail space gc SPACE). Then send the same call again.',
  }),
};

const FREE_SPACE = 'free space on the disk of the data directory';
const MAKE_WRITABLE = 'make the data directory writable for their account';
const REMOVE_FILE = 'remove the file that is in the place of the data directory';

/** What the user can do about a file error. */
const TO_CHECK: { readonly [cause: string]: string | undefined } = {
  ENOSPC: FREE_SPACE,
  EDQUOT: FREE_SPACE,
  EACCES: MAKE_WRITABLE,
  EPERM: MAKE_WRITABLE,
  EROFS: MAKE_WRITABLE,
  EEXIST: REMOVE_FILE,
};

function moveAway(place: string, cause: string): string | undefined {
  const wrong = WRONG_KIND[cause];
  const where = cause === 'ENOTDIR' ? `on the path to ${place}` : `at ${place}`;
  return wrong && `move away ${wrong.found} ${where} in the data directory, where a ${wrong.wanted} belongs`;
}

/** A session that is missing may be in another data folder. */
export function storedIn(dataDir: string | undefined): string {
  return dataDir === undefined ? 'here' : `in the data folder of this server, ${quote(dataDir)}`;
}

/** A run that is not found may be in a session that cannot be read. */
function notFound(named: string, unreadable: readonly string[], where: string): Pick<Words, 'message' | 'suggestion'> {
  const what = `No session or run ${quote(named)}`;
  const [first, ...more] = unreadable;
  if (first === undefined) {
    return {
      message: `${what} is stored ${where}.`,
      suggestion: 'Send the corrected call, which looks for runs of this workspace.',
    };
  }
  const closed = more.length === 0 ? `session ${first} cannot` : `${unreadable.length} sessions cannot`;
  return {
    message: `${what} was found ${where}, but ${closed} be read and may have it.`,
    suggestion: `Tell the user that this command shows why: ${verifyCommand(unreadable)}. The corrected call searches everything that can be read.`,
  };
}

/** The words for a session that is missing or has no keys. */
export const SESSION_WORDS: WordsFor<Extract<ResumeRefusal, { code: 'session_not_found' | 'keys_missing' }>> = {
  session_not_found: (
    { named, unreadable = [] },
    { dataDir, sent: { sessionId: _session, runId: _run, ...rest } },
  ) => ({
    code: 'SESSION_NOT_FOUND',
    ...notFound(named, unreadable, storedIn(dataDir)),
    call: { tool: 'resume_session', arguments: rest },
  }),
  keys_missing: () => ({
    code: 'STORE_IO',
    message: 'The keys of the data directory are missing, so no token can be created for its sessions.',
    suggestion: 'Call start_workflow once, which creates new keys. Then send the same call again.',
  }),
};
