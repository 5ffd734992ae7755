import { err, ok, type Result, safeTry } from 'neverthrow';
import type { InputFailure } from '../../app/ports/bundle-output.ts';
import type { Flow } from '../../core/flow.ts';
import type { CommandContext } from '../command.ts';
import { isPersonThere } from '../loosening.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';

export const PASSPHRASE_FILE = '--passphrase-file <file>';

/** Shorter ones can be guessed by a machine in days, whatever is done to slow it down. */
const LENGTH_MIN = 12;

type Wanted = {
  /** A file with the passphrase in its first line, for scripts. */
  readonly file: string | undefined;
  readonly message: string;
  /** A new passphrase is long enough and typed twice; an existing one is taken as it is. */
  readonly isNew: boolean;
};

/** The passphrase of an encrypted bundle. It is never an argument: other programs can read those. */
export async function askPassphrase(context: CommandContext, wanted: Wanted): Promise<Result<string, CommandProblem>> {
  return safeTry(async function* (): Flow<string, CommandProblem> {
    const { program, progress } = context;
    if (wanted.file !== undefined) return ok(yield* await fromFile(context, wanted.file, wanted.isNew));
    if (!isPersonThere(context)) return err(problem(EXIT.needsPerson, NOBODY, IN_TERMINAL));
    progress.stop();
    const ask = await program.ask();
    const check = (text: string) => (wanted.isNew ? weakness(text) : undefined);
    const typed = await ask.secret({ message: wanted.message, check });
    if (typed === undefined) return err(problem(EXIT.interrupted, 'Interrupted. Nothing was written.', IN_TERMINAL));
    if (!wanted.isNew) return ok(typed);
    const again = await ask.secret({ message: 'Type it again.' });
    if (again === undefined) return err(problem(EXIT.interrupted, 'Interrupted. Nothing was written.', IN_TERMINAL));
    return again === typed
      ? ok(typed)
      : err(usageProblem('The two passphrases differ. Nothing was written.', IN_TERMINAL));
  });
}

const NOBODY = 'An encrypted bundle needs a passphrase, and nobody can type one here.';
const IN_TERMINAL = `Run the command in a terminal, or give the passphrase in the first line of a file: ${PASSPHRASE_FILE}`;

function weakness(text: string): string | undefined {
  return [...text].length < LENGTH_MIN
    ? `Use at least ${LENGTH_MIN} characters, such as four random words.`
    : undefined;
}

function unreadable(file: string, failure: InputFailure): string {
  if (failure.code === 'input_too_large') return `The passphrase file ${file} is too large.`;
  const { cause } = failure;
  return `The passphrase file ${file} ${cause === 'ENOENT' ? 'does not exist' : `could not be read (${cause})`}.`;
}

async function fromFile(
  { program }: CommandContext,
  file: string,
  isNew: boolean,
): Promise<Result<string, CommandProblem>> {
  const read = await (await program.bundleAccess()).input(file);
  if (read.isErr()) return err(usageProblem(unreadable(file, read.error), 'Give the path of a text file.'));
  const [line = ''] = new TextDecoder().decode(read.value.subarray(0, 4_096)).split(/\r?\n/);
  const weak = isNew ? weakness(line) : undefined;
  if (line === '') return err(usageProblem(`The first line of ${file} is empty.`, 'Write the passphrase there.'));
  return weak === undefined ? ok(line) : err(usageProblem(`The passphrase in ${file} is too short.`, weak));
}
