import { err, ok, type Result } from 'neverthrow';
import type { Commit, CommitReader, UnclearCommit } from '../../app/ports/workspace-observer.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { shellWord } from '../../core/text/words.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';

export const FULL_NAME = 'refs/remotes/origin/main';

/** The commit of a name, or of an expression such as `HEAD~1`. Of a name that stands for two commits, git would take one. */
export async function commitOf(
  commits: CommitReader,
  flag: string,
  name: string,
): Promise<Result<Commit, CommandProblem>> {
  const named = await commits.commitNamed('.', name);
  if (named.isOk()) return ok(named.value);
  if (named.error.code === 'commit_ambiguous') return err(unclear(flag, name, named.error));
  const found = await commits.commitAt('.', name);
  const advice = 'Run the command in the repository, and name a commit, a branch or HEAD.';
  return found === undefined ? err(usageProblem(`There is no commit ${visibleLine(name)} here.`, advice)) : ok(found);
}

/** A tag or a branch of the change must not stand in for the branch that guards it. */
export function unclear(flag: string, name: string, why: UnclearCommit): CommandProblem {
  return why.code === 'commit_unknown'
    ? usageProblem(
        `${visibleLine(name)} is not a branch, a tag or the whole id of a commit here.`,
        flag === '--change'
          ? 'Fetch it, and give its full name or its whole id: --change "$(git rev-parse HEAD)"'
          : `Fetch it, and give its full name: ${flag} ${FULL_NAME}`,
      )
    : usageProblem(
        `${visibleLine(name)} stands for different commits here: ${why.refs.map(visibleLine).join(', ')}.`,
        `Give the full name of the one you mean: ${flag} ${shellWord(why.refs[0])}`,
      );
}
