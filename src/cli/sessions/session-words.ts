import type { ResumeCallRefusal } from '../../app/sessions/resume-call.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import { shortList } from '../../core/text/words.ts';
import { type CommandProblem, EXIT, exitCodeOf } from '../command.ts';
import type { SessionAccess } from '../program.ts';
import { type CommandRefusal, explainRefusal, explainStoreFailure } from '../words.ts';

type Words = { readonly message: string; readonly suggestion: string };

export const EMPTY_ID: CommandProblem = usage({
  message: 'A session id is empty.',
  suggestion: 'Type the id of the session that you mean, or leave it out to take the one last worked on here.',
});

export function NO_SESSIONS(dataDir: string): CommandProblem {
  return notFound({
    message: `There are no sessions yet in ${dataDir}.`,
    suggestion: 'Start a workflow with an agent first; WORKRAIL_DATA_DIR says where sessions are kept.',
  });
}

/** A step or branch that the session does not have. */
export function placeUnknown(asked: string, known: readonly string[]): CommandProblem {
  const among = known.length === 0 ? 'It has none yet.' : `There are: ${shortList(known)}.`;
  // The session is there; the exit code alone says that something was not found.
  const { error } = usage({
    message: `There is no step or branch "${asked}" in this session.`,
    suggestion: `${among} Steps go by number, id or words of the title, branches by letter; "workrail session tree" shows them.`,
  });
  return { exitCode: EXIT.notFound, error };
}

export function placeAmbiguous(asked: string): CommandProblem {
  return usage({
    message: `Several steps have "${asked}" in their titles.`,
    suggestion: 'Type the number or the id of the step that you mean; "workrail session tree" shows the numbers.',
  });
}

export function runAmbiguous(tags: readonly string[]): CommandProblem {
  return usage({
    message: `This session has ${tags.length} runs.`,
    suggestion: `Name the run instead of the session: ${shortList(tags)}.`,
  });
}

export const NOTHING_RAN: CommandProblem = {
  exitCode: EXIT.failed,
  error: {
    code: 'STORE_CORRUPT',
    message: 'Nothing of a run can be read in this session.',
    suggestion: 'Type "workrail session verify" to see what is damaged.',
    retry: { kind: 'not_retryable' },
  },
};

export function resumeProblem(refusal: ResumeCallRefusal, dataDir: string): CommandProblem {
  switch (refusal.code) {
    case 'session_not_whole':
      return {
        exitCode: EXIT.failed,
        error: {
          code: 'STORE_CORRUPT',
          message: 'This session is damaged, or only part of one: it can be looked at, and never goes on.',
          suggestion:
            'Type "workrail session verify" to see what is damaged, or begin a new run and give it "workrail session notes" of this one.',
          retry: { kind: 'not_retryable' },
        },
      };
    case 'keys_missing':
      return {
        exitCode: EXIT.failed,
        error: {
          code: 'STORE_IO',
          message: `There are no keys in ${dataDir}, so no token can be made for this session.`,
          suggestion: 'Start any workflow once: that makes the keys. Then type the command again.',
          retry: { kind: 'not_retryable' },
        },
      };
    default:
      return { exitCode: EXIT.failed, error: explainStoreFailure(refusal, dataDir) };
  }
}

/** What is wrong with a session, as the end of a sentence that shows it all the same. */
export function healthWords(health: Exclude<SessionHealth, { kind: 'healthy' }>, events: number): string {
  const shown = events === 0 ? 'nothing of it can be read' : `only its first ${events} events are shown`;
  if (health.kind === 'unknown_version') return `written by a newer workrail; ${shown}`;
  if (health.damage.reason === 'salvaged') return `only part of a session, which never goes on; ${shown}`;
  return `damaged (${health.damage.reason} in ${health.damage.place}); ${shown}`;
}

function usage(words: Words): CommandProblem {
  return { exitCode: EXIT.usage, error: { code: 'VALIDATION_ERROR', ...words, retry: { kind: 'not_retryable' } } };
}

function notFound(words: Words): CommandProblem {
  return { exitCode: EXIT.notFound, error: { code: 'SESSION_NOT_FOUND', ...words, retry: { kind: 'not_retryable' } } };
}

/** What is written to something that is no terminal may be read in one. */
const WIDTH_ELSEWHERE = 100;
/** Narrower than this nothing can be told apart. */
const WIDTH_MIN = 40;

/** How wide what is shown may be. */
export function widthOf({ columns }: Pick<SessionAccess, 'columns'>): number {
  return Math.max(WIDTH_MIN, columns() ?? WIDTH_ELSEWHERE);
}

/** A refusal in words, with the code that the process ends with. */
export function refusalProblem(refusal: CommandRefusal, dataDir: string): CommandProblem {
  const error = explainRefusal(refusal, dataDir);
  return { error, exitCode: exitCodeOf(error.code) };
}
