import { err, ok, type Result } from 'neverthrow';
import { approvalText, passkeySignature, signatureKind } from '../../core/approvals/approval-signature.ts';
import { isApproverName } from '../../core/approvals/approver-list.ts';
import { toBase64 } from '../../core/approvals/ssh-wire.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { AttestationId, NodeId, SessionId } from '../../core/log/ids.ts';
import { unseenFix, unseenSentence } from '../../core/run/unseen-files.ts';
import { fromBase64Url, toBase64Url } from '../../core/text/binary-text.ts';
import type { ConsoleInput, ConsoleReply } from '../../core/wire/console-shapes.ts';
import type { OwnApprovers } from '../ports/approvers.ts';
import {
  findWaitingDraft,
  type PersonAnswer,
  signedSubject,
  type WaitingDraft,
  withPatience,
} from '../run/answer-gate.ts';
import type { ConsoleServices } from './console-pages.ts';

export type ApprovalServices = ConsoleServices & { readonly ownApprovers: OwnApprovers };

type Page<Path extends 'approvers' | 'addPasskey' | 'challenge'> = Promise<Result<ConsoleReply<Path>, ErrorEnvelope>>;

/** Whose signatures count, without a folder: the list of the user. */
export async function approversPage({ approvers, ownApprovers }: ApprovalServices): Page<'approvers'> {
  const known = await approvers?.(undefined);
  return ok({
    file: ownApprovers.file,
    approvers: (known?.approvers ?? []).map(({ name, key, comment }) => ({
      name,
      fingerprint: key.fingerprint,
      kind: signatureKind(key),
      comment,
    })),
    problems: [...(known?.problems ?? [])],
  });
}

/** Adds a passkey to the list of the user. Like every loosening, only in a console that was started at a terminal. */
export async function addPasskey(services: ApprovalServices, given: ConsoleInput<'addPasskey'>): Page<'addPasskey'> {
  if (!services.mayDecide) return err(services.explain({ code: 'not_at_terminal' }));
  const { name, comment, credentialId } = given;
  const key = services.ownApprovers.passkey(fromBase64Url(given.publicKey) ?? new Uint8Array());
  if (!isApproverName(name)) return err(envelope('This cannot be the name of an approver.', NAME_HELP));
  if (key === undefined) return err(envelope('This browser made a key of a kind that is not supported.', OTHER_KEY));
  const added = await services.ownApprovers.add({ name, key, comment, credentialId });
  if (added.isOk()) return ok({ name, fingerprint: key.fingerprint });
  return err(
    added.error.code === 'already_there'
      ? envelope(`The list has this key already, as the key of ${added.error.approver.name}.`, 'Nothing was changed.')
      : envelope(`The list cannot be written (${added.error.cause}).`, 'Nothing was changed.'),
  );
}

const NAME_HELP = 'Use letters, digits, ".", "_", "-", "@" or "+".';
const OTHER_KEY = 'Use another authenticator, or add an SSH key with "workrail approvers add".';

function envelope(message: string, suggestion: string): ErrorEnvelope {
  return { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } };
}

/** What a passkey signs for an answer. The id of the answer is part of it, so the same challenge is never used twice. */
export async function challengeFor(
  services: ApprovalServices,
  at: { readonly sessionId: SessionId; readonly nodeId: NodeId },
  { digest, statement }: { readonly digest: string; readonly statement: PersonAnswer['statement'] },
): Page<'challenge'> {
  const waiting = await shownDraft(services, at, digest);
  if (waiting.isErr()) return err(waiting.error);
  const { unseen } = waiting.value;
  if (unseen !== undefined) {
    const message = `${unseenSentence(unseen)}, so a signature would not cover the files. Nothing was recorded.`;
    return err(envelope(message, unseenFix(unseen)));
  }
  const known = await services.approvers?.(waiting.value.root);
  const attestationId = services.answerIds.attestation();
  const text = approvalText({ attestationId, subject: signedSubject(waiting.value), statement });
  return ok({
    attestationId,
    challenge: toBase64Url(services.ownApprovers.challenge(text)),
    credentialIds: (known?.approvers ?? []).flatMap(({ credentialId }) => credentialId ?? []),
  });
}

async function shownDraft(
  services: ApprovalServices,
  { sessionId, nodeId }: { readonly sessionId: SessionId; readonly nodeId: NodeId },
  digest: string,
): Promise<Result<WaitingDraft, ErrorEnvelope>> {
  const loaded = await services.sessions.load(sessionId);
  if (loaded.isErr()) return err(services.explain(loaded.error));
  const found = await findWaitingDraft(withPatience(services, 'long'), loaded.value, nodeId);
  if (found.isErr()) return err(services.explain(found.error));
  return found.value.digest === digest ? ok(found.value) : err(services.explain({ code: 'not_waiting' }));
}

/** The signature that a browser gave, in the form in which it is recorded. Whether it is right is checked when it is. */
export async function passkeyAnswer(
  services: ApprovalServices,
  { root, passkey, origin }: { readonly root: string | undefined; readonly passkey: Passkey; readonly origin: string },
): Promise<Result<{ readonly attestationId: AttestationId; readonly signature: Signature }, ErrorEnvelope>> {
  const known = await services.approvers?.(root);
  const approver = known?.approvers.find(({ credentialId }) => credentialId === passkey.credentialId);
  if (approver === undefined)
    return err(envelope('This passkey is not among the approvers that count here.', OTHER_KEY));
  const part = (text: string) => fromBase64Url(text) ?? new Uint8Array();
  const made = passkeySignature(approver.key, {
    authenticatorData: part(passkey.authenticatorData),
    clientData: part(passkey.clientData),
    signature: part(passkey.signature),
    origin,
  });
  if (made === undefined) return err(envelope('The browser gave no signature that can be read.', 'Try it again.'));
  const { name, key } = approver;
  const signature = { kind: signatureKind(key), fingerprint: key.fingerprint, name, sshsig: toBase64(made) };
  return ok({ attestationId: passkey.attestationId as AttestationId, signature });
}

type Passkey = NonNullable<ConsoleInput<'answer'>['passkey']>;
type Signature = NonNullable<PersonAnswer['signature']>;
