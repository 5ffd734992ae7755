import type { Result } from 'neverthrow';
import type { NotAnApprover, SignatureRefusal } from '../../core/approvals/approval-signature.ts';
import type { Approver, ApproverKey } from '../../core/approvals/approver-list.ts';
import type { Attestation } from '../../core/views/attestations.ts';

/** Why an answer does not count as signed. */
export type ApprovalRefusal = SignatureRefusal | NotAnApprover;

/** The people whose signatures count in a workspace. */
export type KnownApprovers = {
  readonly approvers: readonly Approver[];
  /** Why keys or whole lists do not count, in sentences. */
  readonly problems: readonly string[];
  /** Where the keys were read from, in words. */
  readonly places: readonly string[];
  /** Which of them signed an answer. */
  readonly signer: (answer: Attestation['data']) => Result<Approver, ApprovalRefusal>;
};

/** Reads the lists of the user and of the repository's default branch. Nothing in the work tree counts. */
export type FindApprovers = (workspace: string | undefined) => Promise<KnownApprovers>;

export type ListChange =
  | { readonly code: 'already_there'; readonly approver: Approver }
  | { readonly code: 'list_not_written'; readonly cause: string };

/** The user's own list. */
export type OwnApprovers = {
  readonly file: string;
  /** The list or its folder, if other users of this machine can write to it and so add keys. */
  readonly openPlace: () => Promise<string | undefined>;
  readonly add: (approver: Approver) => Promise<Result<void, ListChange>>;
  readonly remove: (fingerprint: string) => Promise<Result<void, ListChange>>;
  /** The public key in a text or a file, with its comment; an error says what is wrong. */
  readonly publicKey: (
    named: string,
  ) => Promise<Result<{ readonly key: ApproverKey; readonly comment: string }, string>>;
  /** What a passkey signs for a text. */
  readonly challenge: (text: Uint8Array) => Uint8Array;
  /** The key that a browser made for a passkey. */
  readonly passkey: (spki: Uint8Array) => ApproverKey | undefined;
};

export type SignFailure =
  | { readonly code: 'ssh_keygen_missing' }
  /** What the program printed is already on the terminal. */
  | { readonly code: 'ssh_keygen_failed'; readonly exitCode: number | null }
  | { readonly code: 'key_not_found' };

/** Signs with a key of the user, through the programs of SSH: the private key never comes near us. */
export type ApprovalSigner = {
  /** The signature over a text, in base64. The program asks for a passphrase or a touch at the terminal. */
  readonly sign: (keyFile: string, text: Uint8Array) => Promise<Result<string, SignFailure>>;
  /** The files in the user's SSH folder that hold the keys of approvers. */
  readonly ownKeyFiles: (approvers: readonly Approver[]) => Promise<readonly string[]>;
  /** Whether every program of this user can sign with a key: its file needs no passphrase and no hardware. */
  readonly isUnprotected: (keyFile: string) => Promise<boolean>;
};
