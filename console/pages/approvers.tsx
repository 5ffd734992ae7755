import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { fromBase64Url, toBase64Url } from '../../src/core/text/binary-text.ts';
import type { ConsoleInput, ConsoleReply, WaitingItem } from '../../src/core/wire/console-shapes.ts';
import { Button, CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { Refused, read, write } from '../state/api.ts';

/** A passkey belongs to this name, and not to an address. */
const SITE = 'localhost';
const ES256 = -7;

type Decided = Omit<ConsoleInput<'challenge'>, 'digest'>;

/** What is sent for a decision; where only a signature counts, the browser asks the person for a passkey first. */
export async function decide(item: WaitingItem, decided: Decided): Promise<ConsoleReply<'answer'>> {
  const at = { session: item.sessionId, node: item.nodeId };
  const said = { digest: item.digest, ...decided };
  const receipt = receiptOf(item);
  if (item.signing === undefined || decided.decision === 'rejected')
    return write('answer', at, { ...said, ...receipt });
  const { attestationId, challenge, credentialIds } = await write('challenge', at, said);
  if (credentialIds.length === 0) throw unsigned('No approver of this run has a passkey.', item.tag);
  const publicKey = {
    challenge: bytesOf(challenge),
    rpId: SITE,
    userVerification: 'required' as const,
    allowCredentials: credentialIds.map((id) => ({ type: 'public-key' as const, id: bytesOf(id) })),
  };
  const made = (await navigator.credentials.get({ publicKey }).catch(({ name }: Error) => {
    throw unsigned(`The browser made no signature (${name}).`, item.tag);
  })) as PublicKeyCredential;
  const { authenticatorData, clientDataJSON, signature } = made.response as AuthenticatorAssertionResponse;
  const passkey = {
    attestationId: attestationId as string,
    credentialId: textOf(made.rawId),
    authenticatorData: textOf(authenticatorData),
    clientData: textOf(clientDataJSON),
    signature: textOf(signature),
  };
  return write('answer', at, { ...said, ...receipt, passkey });
}

/** The server answered, but the browser has nothing to sign with, or the person said no. */
function unsigned(why: string, tag: string): Refused {
  const suggestion = `Try it again, or run "workrail answer ${tag} --sign" in a terminal of your own.`;
  const message = `${why} Nothing was recorded.`;
  return new Refused({ code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } }, 0);
}

/** The first receipt for each draft: it says since when the person could read it. */
const receipts = new Map<string, string>();

function receiptOf({ digest, receipt }: WaitingItem): { readonly receipt?: string } {
  const first = receipts.get(digest) ?? receipt;
  return first === undefined ? {} : { receipt: first };
}

export function keepReceipts(waiting: readonly WaitingItem[]): void {
  for (const { digest, receipt } of waiting) {
    if (receipt !== undefined && !receipts.has(digest)) receipts.set(digest, receipt);
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fromBase64Url(text) ?? new Uint8Array());
}

function textOf(buffer: ArrayBuffer): string {
  return toBase64Url(new Uint8Array(buffer));
}

/** Says that only a signature counts, and whose. */
export function SigningNote({ signing, tag }: { readonly signing: WaitingItem['signing']; readonly tag: string }) {
  if (signing === undefined) return null;
  const { approvers, needed, signers } = signing;
  const who = approvers.length === 0 ? 'nobody yet' : approvers.join(', ');
  return (
    <>
      <p>
        Only a signed answer opens this gate{needed === 2 && ', and two people must sign'}. These can sign: {who}.
        {signers.length > 0 && ` ${signers.join(', ')} has signed.`}
      </p>
      {approvers.length < needed && (
        <p className="warning">
          Too few approvers were known when this run started. Add them, then let the agent start the workflow again.
        </p>
      )}
      {location.hostname !== SITE && (
        <p className="warning">
          Passkeys work only at http://localhost:{location.port}. Open the link that "workrail console" prints, or run
          "workrail answer {tag} --sign" in a terminal of your own.
        </p>
      )}
    </>
  );
}

const KIND_WORDS = { ssh_key: 'an SSH key', security_key: 'a security key', passkey: 'a passkey' } as const;

/** Whose signatures count, and a passkey for one more. */
export function Approvers() {
  const { data } = useQuery({ queryKey: ['approvers'], queryFn: () => read('approvers') });
  if (data === undefined) return null;
  return (
    <section className="panel" aria-label="Who can sign">
      <h2>Who can sign</h2>
      {data.approvers.length === 0 ? (
        <p>Nobody yet. A workflow with steps that must be signed needs at least one approver before it starts.</p>
      ) : (
        <ul className="plain">
          {data.approvers.map(({ name, kind, fingerprint, comment }) => (
            <li key={fingerprint}>
              <span className="strong">{name}</span> with {KIND_WORDS[kind]}{' '}
              <span className="meta break">
                {fingerprint} {comment}
              </span>
            </li>
          ))}
        </ul>
      )}
      {data.problems.map((problem) => (
        <p key={problem} className="warning">
          {problem}
        </p>
      ))}
      <AddPasskey />
      <CommandHint command="workrail approvers add KEY --name NAME" />
    </section>
  );
}

function AddPasskey() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const field = useId();
  const added = useMutation({
    mutationFn: () => newPasskey(name.trim()),
    onSuccess: () => setName(''),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={field}>Your name</label>
      <div className="actions">
        <input id={field} value={name} autoComplete="off" onChange={({ target }) => setName(target.value)} />
        <Button
          label="Add a passkey"
          disabled={name.trim() === '' || added.isPending || location.hostname !== SITE}
          onClick={() => added.mutate()}
        />
      </div>
      <ErrorPanel error={added.error} />
      {added.data && (
        <p role="status">
          Added {added.data.name}, {added.data.fingerprint}. It counts for runs that start from now on.
        </p>
      )}
    </form>
  );
}

async function newPasskey(name: string): Promise<ConsoleReply<'addPasskey'>> {
  const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const made = (await navigator.credentials.create({
    publicKey: {
      rp: { id: SITE, name: 'WorkRail on this machine' },
      user: { id: random(16), name, displayName: name },
      challenge: random(32),
      pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
      authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
      attestation: 'none',
    },
  })) as PublicKeyCredential;
  const publicKey = (made.response as AuthenticatorAttestationResponse).getPublicKey();
  return write(
    'addPasskey',
    {},
    {
      name,
      comment: navigator.platform,
      credentialId: textOf(made.rawId),
      publicKey: textOf(publicKey ?? new ArrayBuffer(0)),
    },
  );
}
