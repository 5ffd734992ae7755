import { err, ok, type Result } from 'neverthrow';
import type { CommandContext, CommandProblem } from '../../command.ts';
import type { Line } from '../../output/line.ts';
import { brokenOff, needsPerson } from '../../upkeep/upkeep-words.ts';

export type Loss = {
  /** What it is about. */
  readonly lines: readonly Line[];
  readonly question: string;
  /** The command that asks nothing. */
  readonly command: string;
};

/** Asks before something is deleted. Whoever cannot be asked must say so beforehand. */
export async function confirmLoss(
  { program, switches, progress, say }: CommandContext,
  { lines, question, command }: Loss,
): Promise<Result<void, CommandProblem>> {
  if (switches.isJson || !program.terminal.isInput() || !program.terminal.isError()) {
    return err(
      needsPerson('Deleting needs a yes, and nobody can be asked here. Nothing was deleted.', `Type: ${command}`),
    );
  }
  progress.stop();
  for (const line of lines) say(line);
  const answer = await (await program.ask()).confirm(question);
  if (answer === true) return ok(undefined);
  const advice = `To delete without being asked, type: ${command}`;
  return err(
    answer === undefined
      ? brokenOff('Broken off. Nothing was deleted.', advice)
      : needsPerson('You did not say yes. Nothing was deleted.', advice),
  );
}
