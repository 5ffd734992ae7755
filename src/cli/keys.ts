import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { KeyidOf, PublicKey } from '../app/ports/keyring-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { shortKeyid } from '../core/log/log-signatures.ts';
import type { Keyring, SigningKey } from '../core/token/keyring.ts';
import { keysRotateData, keysShape, keysStatusData } from '../core/wire/machine-shapes.ts';
import { type CommandContext, type CommandInput, command, done } from './command.ts';
import { dim } from './output/line.ts';
import { table } from './output/text-width.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from './problem.ts';
import { refusalProblem } from './refusal-problem.ts';

type ShownKeys = z.infer<typeof keysShape>;

export const keysRotate = command({
  options: [{ flags: '--yes', help: 'do not ask for confirmation' }],
  example: 'workrail keys rotate',
  data: keysRotateData,
  run: (context, input) =>
    safeTry(async function* () {
      const { program } = context;
      const [{ keyring, keyidOf }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
      const refused = (failure: StoreFailure) => refusalProblem(failure, dataDir);
      const before = shownKeys(yield* (await keyring.find()).mapErr(refused), keyidOf);
      yield* await confirmRotation(context, input, before);
      const after = shownKeys(yield* (await keyring.rotate()).mapErr(refused), keyidOf);
      return done({
        data: { before, after },
        lines: [
          [`New tokens, events and passports are signed with ${after.current}.`],
          [
            `Tokens of ${after.previous} stay valid until the next rotation. Give out the new public key: workrail keys public`,
          ],
          ...(before.previous === null ? [] : [[`Tokens of ${before.previous} are no longer valid.`]]),
        ],
        next: 'workrail keys status',
      });
    }),
});

export const keysPublic = command({
  options: [{ flags: '--previous', help: 'print the key from before the last rotation' }],
  example: 'workrail keys public > workrail.pem',
  data: z.strictObject({ keyid: z.string(), pem: z.string() }),
  run: async ({ program }, { options }) => {
    const [{ ownKeys }, dataDir] = await Promise.all([program.passports(), program.dataDir()]);
    const keys = await ownKeys();
    if (keys.isErr()) return err(refusalProblem(keys.error, dataDir));
    const [current, previous] = keys.value;
    const key = options['previous'] === true ? previous : current;
    if (key === undefined) {
      const words = options['previous'] === true ? 'There is no previous key.' : `There are no keys yet in ${dataDir}.`;
      return err(problem(EXIT.notFound, words, 'The first run makes a key; "workrail keys rotate" makes another one.'));
    }
    const { keyid, pem } = key;
    return done({
      data: { keyid, pem },
      lines: pem
        .trimEnd()
        .split('\n')
        .map((line) => [line]),
      next: 'workrail export ID --as passport -o ../passport.json',
    });
  },
});

/** The public keys in a file that the caller names. */
export async function readKeys(
  program: CommandContext['program'],
  file: string,
): Promise<Result<readonly PublicKey[], CommandProblem>> {
  const { readKeys: read } = await program.passports();
  const keys = await read(file);
  const advice = 'Give a file that "workrail keys public" printed on the machine of the run.';
  if (keys.isErr()) return err(usageProblem(`The key file ${file} could not be read.`, advice));
  return keys.value.length > 0 ? ok(keys.value) : err(usageProblem(`${file} has no Ed25519 public key.`, advice));
}

/** A head as commands print it, or with the name of its hash in front, as passports and other verifiers have it. */
export function readHead(option: unknown): Result<string | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const [, head] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(String(option)) ?? [];
  if (head !== undefined) return ok(head);
  return err(
    usageProblem('--head needs 64 lower-case hex digits.', 'Copy the head from an earlier check or passport.'),
  );
}

export const keysRepair = command({
  options: [{ flags: '--yes', help: 'do not ask' }],
  example: 'workrail keys repair',
  data: z.strictObject({
    /** Where the damaged file is now, in the data folder; null if the keys were not damaged. */
    moved: z.string().nullable(),
    keys: keysShape,
  }),
  run: (context, input) =>
    safeTry(async function* () {
      const { program } = context;
      const [{ keyring, keyidOf }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
      const refused = (failure: StoreFailure) => refusalProblem(failure, dataDir);
      const before = await keyring.find();
      if (before.isErr() && before.error.code === 'damaged') {
        const question =
          'Tokens that agents hold will become invalid; resume_session brings every run back. Signatures of older sessions can then be checked only with a copy of the old public key, and a merge gate refuses passports of this machine until it has the new one. Make new keys?';
        yield* await confirm(context, input, { question, without: 'workrail keys repair --yes' });
      }
      const moved = yield* (await keyring.repair()).mapErr(refused);
      const keys = shownKeys(yield* (await keyring.find()).mapErr(refused), keyidOf);
      return done({
        data: { moved: moved ?? null, keys },
        lines:
          moved === undefined
            ? [['The keys are not damaged. Nothing was changed.']]
            : [
                [`New tokens are signed with ${keys.current}. The damaged file is now ${moved} in ${dataDir}.`],
                ['Tokens from before are invalid. In each chat, let the agent call resume_session.'],
                ['Give out the new public key, also to merge gates: workrail keys public'],
              ],
        next: 'workrail keys status',
      });
    }),
});

export const keysStatus = command({
  example: 'workrail keys status',
  data: keysStatusData,
  run: async ({ program }) => {
    const [{ keyring, keyidOf }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
    const found = await keyring.find();
    if (found.isErr()) return err(refusalProblem(found.error, dataDir));
    const keys = shownKeys(found.value, keyidOf);
    return done({
      data: { dataDir, keys },
      lines:
        keys.current === null
          ? [[`No keys yet in ${dataDir}; the first run creates one.`]]
          : table([
              ['current', keys.current, dim('signs new tokens, events and passports')],
              keys.previous === null
                ? ['previous', 'none']
                : ['previous', keys.previous, dim('its tokens stay valid until the next rotation')],
            ]),
      next: keys.current === null ? 'workrail init' : 'workrail keys rotate',
    });
  },
});

/** The first rotation invalidates no token; a further one invalidates the tokens of the previous key. */
async function confirmRotation(
  context: CommandContext,
  input: CommandInput,
  { previous }: ShownKeys,
): Promise<Result<void, CommandProblem>> {
  if (previous === null) return ok(undefined);
  const question = `Tokens signed with ${previous} will become invalid; resume_session brings every run back. Rotate?`;
  return confirm(context, input, { question, without: 'workrail keys rotate --yes' });
}

async function confirm(
  { program, switches }: CommandContext,
  { options }: CommandInput,
  { question, without }: { readonly question: string; readonly without: string },
): Promise<Result<void, CommandProblem>> {
  if (options['yes'] === true) return ok(undefined);
  const { terminal } = program;
  if (!terminal.isInput() || !terminal.isError() || switches.isJson) {
    return err(problem(EXIT.needsPerson, question, `Run "${without}" to confirm.`));
  }
  const ask = await program.ask();
  const answer = await ask.confirm(question);
  if (answer === true) return ok(undefined);
  const exitCode = answer === undefined ? EXIT.interrupted : EXIT.needsPerson;
  return err(problem(exitCode, 'Nothing was changed.', 'Run "workrail keys status" to see the keys.'));
}

/** The keys by the keyids that logs and passports name; a key itself is never shown. */
export function shownKeys(keyring: Keyring | undefined, keyidOf: KeyidOf): ShownKeys {
  const print = (key: SigningKey | undefined) => (key === undefined ? null : shortKeyid(keyidOf(key)));
  return { current: print(keyring?.current), previous: print(keyring?.previous) };
}
