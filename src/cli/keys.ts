import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { digestHex, ownJsonBytes, type Sha256 } from '../core/json/canonical-json.ts';
import { toBase64Url } from '../core/text/binary-text.ts';
import type { Keyring, SigningKey } from '../core/token/keyring.ts';
import { type CommandContext, type CommandInput, command, done } from './command.ts';
import { dim } from './output/line.ts';
import { table } from './output/text-width.ts';
import { type CommandProblem, EXIT, problem } from './problem.ts';
import { refusalProblem } from './words.ts';

/** The first digits of a digest of a key: enough to tell two keys apart, and no help in guessing one. */
const fingerprintShape = z.string().regex(/^[0-9a-f]{12}$/);
const keysShape = z.strictObject({
  /** Signs tokens; null until the first key is created. */
  current: fingerprintShape.nullable(),
  /** Only verifies tokens; null before the first rotation. */
  previous: fingerprintShape.nullable(),
});
type ShownKeys = z.infer<typeof keysShape>;

export const keysRotate = command({
  options: [{ flags: '--yes', help: 'do not ask, even if this makes tokens of the previous key invalid' }],
  example: 'workrail keys rotate',
  data: z.strictObject({ before: keysShape, after: keysShape }),
  run: (context, input) =>
    safeTry(async function* () {
      const { program } = context;
      const [{ keyring, sha256 }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
      const refused = (failure: StoreFailure) => refusalProblem(failure, dataDir);
      const before = shownKeys(yield* (await keyring.find()).mapErr(refused), sha256);
      yield* await confirmRotation(context, input, before);
      const after = shownKeys(yield* (await keyring.rotate()).mapErr(refused), sha256);
      return done({
        data: { before, after },
        lines: [
          [`New tokens are signed with ${after.current}.`],
          [`Tokens of ${after.previous} stay valid until the next rotation.`],
          ...(before.previous === null ? [] : [[`Tokens of ${before.previous} are no longer valid.`]]),
        ],
        next: 'workrail keys status',
      });
    }),
});

export const keysStatus = command({
  example: 'workrail keys status',
  data: z.strictObject({ dataDir: z.string(), keys: keysShape }),
  run: async ({ program }) => {
    const [{ keyring, sha256 }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
    const found = await keyring.find();
    if (found.isErr()) return err(refusalProblem(found.error, dataDir));
    const keys = shownKeys(found.value, sha256);
    return done({
      data: { dataDir, keys },
      lines:
        keys.current === null
          ? [[`No keys yet in ${dataDir}; the first run creates one.`]]
          : table([
              ['current', keys.current, dim('signs new tokens')],
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
  { program, switches }: CommandContext,
  { options }: CommandInput,
  { previous }: ShownKeys,
): Promise<Result<void, CommandProblem>> {
  if (previous === null || options['yes'] === true) return ok(undefined);
  const { terminal } = program;
  if (!terminal.isInput() || !terminal.isError() || switches.isJson) {
    return err(
      problem(
        EXIT.needsPerson,
        `Rotating invalidates every token signed with ${previous}; chats that still hold one must use resume_session.`,
        'Run "workrail keys rotate --yes" to confirm.',
      ),
    );
  }
  const ask = await program.ask();
  const answer = await ask.confirm(`Tokens signed with ${previous} will become invalid. Rotate?`);
  if (answer === true) return ok(undefined);
  const exitCode = answer === undefined ? EXIT.interrupted : EXIT.needsPerson;
  return err(problem(exitCode, 'Nothing was changed.', 'Run "workrail keys status" to see the keys.'));
}

const SHOWN_DIGITS = 12;

/** The fingerprints of the keys; a key itself is never shown. */
function shownKeys(keyring: Keyring | undefined, sha256: Sha256): ShownKeys {
  const print = (key: SigningKey | undefined) => (key === undefined ? null : fingerprint(key, sha256));
  return { current: print(keyring?.current), previous: print(keyring?.previous) };
}

function fingerprint(key: SigningKey, sha256: Sha256): string {
  return digestHex(sha256(ownJsonBytes(toBase64Url(key)))).slice(0, SHOWN_DIGITS);
}
