import { err, ok, type Result } from 'neverthrow';
import type { SignFailure } from '../../app/ports/approvers.ts';
import { type AnswerRefusal, type PersonAnswer, signedSubject, type WaitingDraft } from '../../app/run/answer-gate.ts';
import { approvalText, signatureKind } from '../../core/approvals/approval-signature.ts';
import type { Approver } from '../../core/approvals/approver-list.ts';
import { unreachable } from '../../core/assert.ts';
import { type AttestationId, runTag } from '../../core/log/ids.ts';
import { type UnseenFiles, unseenFix, unseenSentence } from '../../core/run/unseen-files.ts';
import type { CommandContext } from '../command.ts';
import { dim } from '../output/line.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';

type SigningKey = { readonly file: string; readonly approver: Approver };

/** The key to sign with. Signing is asked for, never assumed; where only a signature counts, it must be asked for. */
export async function chosenKey(
  { program }: CommandContext,
  { signing, unseen, runId, root }: WaitingDraft,
  options: { readonly [name: string]: unknown },
): Promise<Result<SigningKey | undefined, CommandProblem>> {
  const isAsked = options['sign'] === true || options['key'] !== undefined;
  const again = `workrail answer ${runTag(runId)} --sign`;
  if (!isAsked) return ok(undefined);
  if (unseen !== undefined) return err(filesUnknown(unseen, again));
  const { find, own, signer } = await program.approvers();
  const { approvers, problems } = await find(root);
  const named = options['key'];
  const files = typeof named === 'string' ? [named] : await signer.ownKeyFiles(approvers);
  const [file, ...others] = files;
  if (file === undefined || others.length > 0) {
    const found = file === undefined ? 'None of your keys in ~/.ssh is' : `${files.length} of your keys in ~/.ssh are`;
    const message = [`${found} among the approvers that count here.`, ...problems].join(' ');
    return err(
      problem(EXIT.usage, message, `Name the key: ${again} --key FILE. "workrail approvers list" shows who counts.`),
    );
  }
  const read = await own.publicKey(file);
  if (read.isErr())
    return err(problem(EXIT.usage, `This key cannot be used: ${read.error}`, `Name another key: ${again} --key FILE`));
  const { fingerprint } = read.value.key;
  const approver = approvers.find(({ key }) => key.fingerprint === fingerprint);
  if (approver === undefined) {
    const message = `The key ${fingerprint} is not among the approvers that count here.`;
    return err(problem(EXIT.needsPerson, message, 'Run `workrail approvers list` to see who counts.'));
  }
  if (signing !== undefined && !signing.approvers.includes(approver.name)) {
    return err(signatureProblem({ code: 'not_known_at_start' }));
  }
  return ok({ file, approver });
}

/** The signature of exactly this answer. A rejection needs none, and signing it is a second look at the same question. */
export async function signed(
  { program, say }: CommandContext,
  at: {
    readonly waiting: WaitingDraft;
    readonly statement: PersonAnswer['statement'];
    readonly attestationId: AttestationId;
    readonly signing: SigningKey | undefined;
  },
): Promise<Result<NonNullable<PersonAnswer['signature']> | undefined, CommandProblem>> {
  const { waiting, statement, attestationId, signing } = at;
  if (signing === undefined) return ok(undefined);
  const { signer } = await program.approvers();
  const { file, approver } = signing;
  say([dim(`Signing with ${file}. Enter its passphrase, or touch the device, if you are asked to.`)]);
  const text = approvalText({ attestationId, subject: signedSubject(waiting), statement });
  const made = await signer.sign(file, text);
  if (made.isErr()) return err(signFailure(made.error, file));
  const { key, name } = approver;
  return ok({ kind: signatureKind(key), fingerprint: key.fingerprint, name, sshsig: made.value });
}

function signFailure(failure: SignFailure, file: string): CommandProblem {
  switch (failure.code) {
    case 'ssh_keygen_missing':
      return problem(
        EXIT.failed,
        'The program ssh-keygen was not found. Nothing was recorded.',
        'Install OpenSSH, and run the command again.',
      );
    case 'key_not_found':
      return problem(EXIT.notFound, `There is no file ${file}. Nothing was recorded.`, 'Name the key with --key FILE.');
    case 'ssh_keygen_failed':
      return problem(
        EXIT.failed,
        'ssh-keygen made no signature. Nothing was recorded.',
        'See what it printed above, and run the command again.',
      );
    default:
      return unreachable(failure);
  }
}

export function filesUnknown(unseen: UnseenFiles, again: string): CommandProblem {
  return problem(
    EXIT.failed,
    `${unseenSentence(unseen)}, so a signature would not cover the files. Nothing was recorded.`,
    `${unseenFix(unseen)} Then run: ${again}`,
  );
}

/** Why a signature does not count. */
export function signatureProblem(why: Extract<AnswerRefusal, { code: 'signature_refused' }>['why']): CommandProblem {
  const known = 'Run `workrail approvers list` to see who counts.';
  switch (why.code) {
    case 'not_known_at_start':
      return problem(
        EXIT.needsPerson,
        'This key was not among the approvers when the run started, so it opens no gate of this run. Nothing was recorded.',
        'Let another approver sign, or let the agent start the workflow again.',
      );
    case 'approver_unknown':
      return problem(
        EXIT.needsPerson,
        `The key ${why.fingerprint} is not among the approvers that count here. Nothing was recorded.`,
        known,
      );
    case 'nobody_present':
      return problem(
        EXIT.needsPerson,
        'The device signed without a touch. Nothing was recorded.',
        'Use a key that needs a touch.',
      );
    case 'not_signed':
    case 'signature_malformed':
    case 'signature_wrong':
      return problem(EXIT.failed, 'The signature does not belong to this answer. Nothing was recorded.', known);
    default:
      return unreachable(why);
  }
}

/** Only a signed answer opens the gate. After an answer was given, also says that it was not recorded. */
export function unsigned({ runId, signing }: WaitingDraft, lost = ''): CommandProblem {
  const approvers = signing?.approvers ?? [];
  return problem(
    EXIT.needsPerson,
    `Only an answer with the signature of an approver opens this gate.${lost}`,
    approvers.length === 0
      ? 'No approver is known to this run: run `workrail approvers add`, then let the agent start the workflow again.'
      : `To sign, run \`workrail answer ${runTag(runId)} --sign\`. These can sign: ${approvers.join(', ')}.`,
  );
}
