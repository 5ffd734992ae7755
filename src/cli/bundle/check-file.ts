import { err, ok, type Result } from 'neverthrow';
import type { InputFailure } from '../../app/ports/bundle-output.ts';
import type { PublicKey } from '../../app/ports/keyring-store.ts';
import type { Approver } from '../../core/approvals/approver-list.ts';
import { shortKeyid } from '../../core/log/log-signatures.ts';
import { type SigningProblem, signingProblem } from '../../core/passport/merge-gate.ts';
import { subjectOf } from '../../core/passport/passport.ts';
import { type PassportRefusal, type VerifiedPassport, verifyPassport } from '../../core/passport/verify-passport.ts';
import { sizeOf } from '../../core/text/words.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';
import type { PassportAccess } from '../program.ts';

/** What a passport is checked against. */
export type Expectations = {
  readonly keys: readonly PublicKey[];
  readonly head?: string;
  readonly tree?: string;
  readonly approvers?: readonly Approver[];
};

export type FileRefusal =
  | PassportRefusal
  | { readonly code: 'other_tree' | SigningProblem['code']; readonly place: string }
  | UnreadInput;

/** No passport was read, so the command knows nothing about it. */
export type UnreadInput = { readonly code: 'unreadable'; readonly place: string; readonly why: InputFailure };

export async function checkFile(
  { readPassport, services, signatureTools }: PassportAccess,
  file: string,
  { keys, head, tree, approvers }: Expectations,
): Promise<Result<VerifiedPassport, FileRefusal>> {
  const read = await readPassport(file);
  if (read.isErr()) return err({ code: 'unreadable', place: file, why: read.error });
  const verified = verifyPassport(read.value, { keys, head, tools: services.tools });
  if (verified.isErr()) return err(verified.error);
  const { statement } = verified.value;
  const found = subjectOf(statement).tree;
  if (tree !== undefined && found !== tree) return err({ code: 'other_tree', place: found ?? 'none' });
  const { sha256 } = services.tools;
  const isTreeAsked = tree !== undefined;
  const signing = approvers && { approvers, tools: signatureTools, sha256, isTreeAsked };
  const wrong = signing && signingProblem(statement.predicate, signing);
  if (wrong === undefined) return ok(verified.value);
  return err({ code: wrong.code, place: wrong.event === undefined ? 'approvals' : `event ${wrong.event}` });
}

/** Why a passport does not count, in words that follow its file; `keysFrom` says where the keys are named. */
export function refusalWords(refusal: FileRefusal, keysFrom?: string): string {
  if (refusal.code === 'unreadable') return unreadWords(refusal.why);
  const { code, place } = refusal;
  const words: { readonly [code in Exclude<FileRefusal, UnreadInput>['code']]: string } = {
    not_canonical: `is not written as a passport must be (${place})`,
    wrong_shape: `is not a passport of this version (${place})`,
    unknown_key: `is signed by key ${shortKeyid(place)}, which is not ${keysFrom === undefined ? 'the key that you gave' : `among the keys of ${keysFrom}`}`,
    wrong_signature: 'has a wrong signature: it was changed or made up',
    wrong_leaf: `has an event that is not the signed one (${place})`,
    wrong_chain: `has a log that does not fit together (${place})`,
    wrong_summary: `says something else than its events (${place})`,
    head_missing: 'never had the head that you gave: the history before it was changed',
    head_withheld:
      'cannot be checked against the head that you gave, because events are withheld: ask for one that shows every event (workrail export ID --as passport --author), or check the session itself against it (workrail session verify ID --head)',
    other_tree: `is about other files (tree ${place})`,
    approval_withheld: `has a signed approval that cannot be checked, because it or a part of what was signed is withheld or not recorded (${place})`,
    another_draft: `has a signed approval of something else than the step was done with (${place})`,
    nobody_signed:
      'has no step that was done with a signed answer, so nobody in the list of approvers approved anything',
    other_files_signed: 'has no signed approval of exactly these files: what was signed is about others',
    not_approved: `has a signed approval that no key in the list of approvers made (${place})`,
  };
  return words[code];
}

function unreadWords(why: InputFailure): string {
  if (why.code === 'input_too_large') return `is too large to be a passport (${sizeOf(why.size)})`;
  return why.cause === 'ENOENT' ? 'does not exist' : `could not be read (${why.cause})`;
}

/** The files that could not be read, and why. */
export function unreadNames(unread: readonly UnreadInput[]): string {
  return unread.map(({ place, why }) => `${place} ${unreadWords(why)}.`).join(' ');
}

/** Files that could not be read: nothing is wrong with a passport that nobody has seen. */
export function unreadProblem(unread: readonly UnreadInput[]): CommandProblem | undefined {
  if (unread.length === 0) return undefined;
  const isMissing = unread.every(({ why }) => why.code === 'input_failed' && why.cause === 'ENOENT');
  return problem(
    isMissing ? EXIT.notFound : EXIT.usage,
    unreadNames(unread),
    'Give the path of a passport that "workrail export ID --as passport -o FILE" wrote.',
  );
}
