import type { CommandProblem } from '../../../command.ts';
import { exitCodeOf } from '../../../exit-codes.ts';
import type { SessionAccess } from '../../../program.ts';
import { type CommandRefusal, explainRefusal } from '../../../words/explain.ts';

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
