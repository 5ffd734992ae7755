import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { assert } from '../core/assert.ts';
import { canonicalBytes, digestHex, type Sha256 } from '../core/json/canonical-bytes.ts';
import { toBase64Url } from '../core/token/base64url.ts';
import type { Keyring, SigningKey } from '../core/token/keyring.ts';
import {
  type CommandContext,
  type CommandInput,
  type CommandProblem,
  EXIT,
  exitCodeOf,
  type RunCommand,
} from './command.ts';
import { commandShape } from './command-shape.ts';
import { explainStoreFailure } from './words.ts';

const SHOWN_DIGITS = 12;

/** The keys by their fingerprints; a key itself is never shown. */
function shownKeys(keyring: Keyring | undefined, sha256: Sha256): ShownKeys {
  const print = (key: SigningKey | undefined) => (key === undefined ? null : fingerprint(key, sha256));
  return { current: print(keyring?.current), previous: print(keyring?.previous) };
}

function fingerprint(key: SigningKey, sha256: Sha256): string {
  const bytes = canonicalBytes(toBase64Url(key));
  assert(bytes.isOk(), 'a text is JSON');
  return digestHex(sha256(bytes.value)).slice(0, SHOWN_DIGITS);
}

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

export const keysStatus: RunCommand = async ({ program }) => {
  const [{ keyring, sha256 }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
  const found = await keyring.find();
  if (found.isErr()) {
    const error = explainStoreFailure(found.error, dataDir);
    return err({ error, exitCode: exitCodeOf(error.code) });
  }
  const keys = shownKeys(found.value, sha256);
  return ok({
    kind: 'done',
    data: { dataDir, keys },
    lines:
      keys.current === null
        ? [[`No keys yet in ${dataDir}; the first run makes one.`]]
        : [
            [`current   ${keys.current}  `, { text: 'signs every token that is handed out', style: 'dim' }],
            keys.previous === null
              ? ['previous  none']
              : [
                  `previous  ${keys.previous}  `,
                  { text: 'tokens that it signed still work, until the next rotation', style: 'dim' },
                ],
          ],
    next: keys.current === null ? 'workrail init' : 'workrail keys rotate',
  });
};

/** The first characters of a digest of a key: enough to tell two apart, and no help in guessing one. */
const fingerprintShape = z.string().regex(/^[0-9a-f]{12}$/);
const keys = z.strictObject({
  /** Signs; null while none was ever made. */
  current: fingerprintShape.nullable(),
  /** Only verifies; null before the first rotation. */
  previous: fingerprintShape.nullable(),
});
type ShownKeys = z.infer<typeof keys>;

const rotated = z.strictObject({
  before: keys,
  after: keys,
});
type KeysRotateData = z.infer<typeof rotated>;

export const keysStatusShape = commandShape('keys status', z.strictObject({ dataDir: z.string(), keys }));
export const keysRotateShape = commandShape('keys rotate', rotated);
