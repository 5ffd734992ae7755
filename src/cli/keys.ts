import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import type { CommandContext, CommandInput, CommandProblem, RunCommand } from './command.ts';
import { shownKeys } from './commands/keys/shown-keys.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import type { KeysRotateData, ShownKeys } from './shapes/keys/keys-shapes.ts';
import { explainStoreFailure } from './words.ts';

export const keysRotate: RunCommand = async (context, input) => {
  const { program } = context;
  const [{ keyring, sha256 }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
  const found = await keyring.find();
  if (found.isErr()) return refused(found.error, dataDir);
  const before = shownKeys(found.value, sha256);
  const agreed = await isAgreed(context, input, before);
  if (agreed.isErr()) return err(agreed.error);
  const rotated = await keyring.rotate();
  if (rotated.isErr()) return refused(rotated.error, dataDir);
  const data: KeysRotateData = { before, after: shownKeys(rotated.value, sha256) };
  return ok({
    kind: 'done',
    data,
    lines: [
      [`New tokens are signed with ${data.after.current}.`],
      [`Tokens that agents hold still work: ${data.after.previous} verifies them until the next rotation.`],
      ...(before.previous === null ? [] : [[`Tokens of ${before.previous} do not work any more.`]]),
    ],
    next: 'workrail keys status',
  });
};

/** The first rotation takes nothing from anybody; a further one ends the tokens of the key before. */
async function isAgreed(
  { program, switches }: CommandContext,
  { options }: CommandInput,
  { previous }: ShownKeys,
): Promise<Result<void, CommandProblem>> {
  if (previous === null || options['yes'] === true) return ok(undefined);
  const { terminal } = program;
  if (!terminal.isInput() || !terminal.isError() || switches.isJson) return err(needsYes(previous));
  const ask = await program.ask();
  const answer = await ask.confirm(`Tokens signed with ${previous} will not work any more. Rotate?`);
  if (answer === true) return ok(undefined);
  return err(problem(answer === undefined ? EXIT.interrupted : EXIT.needsPerson, 'Nothing was changed.', SEE_KEYS));
}

function needsYes(previous: string): CommandProblem {
  return problem(
    EXIT.needsPerson,
    `A rotation ends every token that was signed with ${previous}; chats that still hold one would have to use resume_session.`,
    'Type "workrail keys rotate --yes" if that is meant.',
  );
}

const SEE_KEYS = 'Type "workrail keys status" to see the keys.';

function refused(failure: StoreFailure, dataDir: string): Result<never, CommandProblem> {
  const error = explainStoreFailure(failure, dataDir);
  return err({ error, exitCode: exitCodeOf(error.code) });
}

function problem(exitCode: CommandProblem['exitCode'], message: string, suggestion: string): CommandProblem {
  return { exitCode, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } } };
}
