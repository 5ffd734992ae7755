import type { ResumeCallRefusal } from '../../app/sessions/resume-call.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import { acceptCommand } from '../../core/log/origin.ts';
import { shortList } from '../../core/text/words.ts';
import { type CommandProblem, EXIT, errorProblem, problem, usageProblem } from '../problem.ts';
import type { SessionAccess } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';

export function noSessions(dataDir: string): CommandProblem {
  return errorProblem({
    code: 'SESSION_NOT_FOUND',
    message: `No sessions yet in ${dataDir}.`,
    suggestion: 'Start a workflow with an agent first. WORKRAIL_DATA_DIR sets where sessions are stored.',
  });
}

/** The session exists, so the code is a validation error; only the exit code says that something was not found. */
export function placeUnknown(asked: string, known: readonly string[]): CommandProblem {
  const among = known.length === 0 ? 'It has none yet.' : `It has: ${shortList(known)}.`;
  return problem(
    EXIT.notFound,
    `Unknown step or branch "${asked}" in this session.`,
    `${among} Name a step by its number, its id or words of its title, and a branch by its letter. "workrail session tree" shows them.`,
  );
}

export function branchUnknown(asked: string, known: readonly string[]): CommandProblem {
  return problem(
    EXIT.notFound,
    `This session has no branch "${asked}".`,
    `It has: ${shortList(known)}. "workrail session tree" shows its branches and steps.`,
  );
}

export function placeAmbiguous(asked: string): CommandProblem {
  return usageProblem(
    `Several steps have "${asked}" in their titles.`,
    'Give the number or the id of the step. "workrail session tree" shows the numbers.',
  );
}

export function runAmbiguous(tags: readonly string[]): CommandProblem {
  return usageProblem(
    `This session has ${tags.length} runs.`,
    `Name the run instead of the session: ${shortList(tags)}.`,
  );
}

export const NOTHING_RAN = errorProblem({
  code: 'STORE_CORRUPT',
  message: 'No run of this session can be read.',
  suggestion: 'Run "workrail session verify" to see what is damaged.',
});

export function resumeProblem(refusal: ResumeCallRefusal, dataDir: string): CommandProblem {
  switch (refusal.code) {
    case 'session_not_whole':
      return errorProblem({
        code: 'STORE_CORRUPT',
        message: 'This session is damaged or incomplete. It can be read, but not continued.',
        suggestion:
          'Run "workrail session verify" to see what is damaged, or start a new run and give it "workrail session notes" of this one.',
      });
    case 'session_not_accepted':
      return problem(
        EXIT.needsPerson,
        'This session was imported, and nobody has accepted it, so agents cannot resume it.',
        `Run this in a terminal: ${acceptCommand(refusal)}`,
      );
    case 'keys_missing':
      return errorProblem({
        code: 'STORE_IO',
        message: `There are no keys in ${dataDir}, so no token can be created for this session.`,
        suggestion: 'Start any workflow once, which creates the keys. Then run the command again.',
      });
    default:
      return errorProblem(refusalProblem(refusal, dataDir).error, EXIT.failed);
  }
}

/** What is wrong with a session that is shown anyway. */
export function healthWords(health: Exclude<SessionHealth, { kind: 'healthy' }>, events: number): string {
  const shown = events === 0 ? 'nothing can be read' : `only the first ${events} events are shown`;
  if (health.kind === 'unknown_version') return `written by a newer workrail; ${shown}`;
  if (health.damage.reason === 'salvaged') return `only part of a session, which cannot be continued; ${shown}`;
  return `damaged (${health.damage.reason} in ${health.damage.place}); ${shown}`;
}

/** Output that does not go to a terminal may still be read in one. */
const WIDTH_ELSEWHERE = 100;
/** Narrower than this, columns cannot be read. */
const WIDTH_MIN = 40;
const WIDTH_UNKNOWN = 80;

export function widthOf({ columns }: Pick<SessionAccess, 'columns'>): number {
  const reported = columns() ?? WIDTH_ELSEWHERE;
  // A terminal without a size reports 0.
  return reported === 0 ? WIDTH_UNKNOWN : Math.max(WIDTH_MIN, reported);
}
