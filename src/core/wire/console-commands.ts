import { shellWord } from '../text/words.ts';
import type { CommandInput, CommandPath } from './command-shapes.ts';

type Words = readonly string[];

/**
 * The command that each of these requests is. The page shows it, and the server runs these very words, so the console
 * cannot do anything here that a person could not type.
 */
export const CONSOLE_COMMANDS = {
  workflows: () => ['workflow', 'list', '--use'],
  workflow: ({ id }) => ['workflow', 'show', id, '--compiled'],
  uses: ({ id }) => ['workflow', 'uses', id],
  versions: ({ a, b }) => ['workflow', 'diff', a, b],
  builtins: () => ['workflow', 'builtins'],
} as const satisfies { readonly [name in CommandPath]: (input: CommandInput<name>) => Words };

/** The words of a request, without the name of the program. */
export function commandWords<Path extends CommandPath>(path: Path, input: CommandInput<Path>): Words {
  return (CONSOLE_COMMANDS[path] as (input: CommandInput<Path>) => Words)(input);
}

/** The same as a person types it. */
export function commandText<Path extends CommandPath>(path: Path, input: CommandInput<Path>): string {
  return ['workrail', ...commandWords(path, input).map(shellWord)].join(' ');
}
