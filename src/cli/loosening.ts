import { err, ok, type Result } from 'neverthrow';
import { ownJsonBytes, type Sha256 } from '../core/json/canonical-json.ts';
import { draftCode } from '../core/run/gate-facts.ts';
import type { CommandContext } from './command.ts';
import { notable } from './output/line.ts';
import { type CommandProblem, EXIT, problem } from './problem.ts';

export type Loosening = {
  /** What would change, as a list of sentences. */
  readonly changes: readonly string[];
  /** The command to run in a terminal. */
  readonly command: string;
  /** What the code allows, after "to". */
  readonly purpose: string;
};

/** Whether a person can read and answer: everything is a terminal, and nothing is printed for a program. */
export function isPersonThere({
  program: { terminal },
  switches,
}: Pick<CommandContext, 'program' | 'switches'>): boolean {
  return terminal.isInput() && terminal.isOutput() && terminal.isError() && !switches.isJson;
}

/**
 * Lets only a person at a terminal allow agents more than before. An agent can run commands, so no flag replaces the
 * terminal, and a code that must be read and typed replaces a plain yes.
 */
export async function confirmLoosening(
  { program, switches, progress, say }: CommandContext,
  { changes, command, purpose }: Loosening,
  sha256: Sha256,
): Promise<Result<void, CommandProblem>> {
  if (!isPersonThere({ program, switches })) {
    const message = `${changes.join(' ')} Only a person at a terminal can allow that. Nothing was changed.`;
    return err(problem(EXIT.needsPerson, message, `Run this in a terminal of your own: ${command}`));
  }
  progress.stop();
  for (const change of changes) say([notable(change)]);
  const code = draftCode(sha256(ownJsonBytes([command, ...changes])));
  const typed = await (await program.ask()).write({ message: `Type ${code} to ${purpose}.` });
  if (typed === undefined)
    return err(problem(EXIT.interrupted, 'Interrupted. Nothing was changed.', `Run: ${command}`));
  if (typed.trim().toUpperCase() === code) return ok(undefined);
  return err(problem(EXIT.needsPerson, 'The code does not match. Nothing was changed.', `Run again: ${command}`));
}
