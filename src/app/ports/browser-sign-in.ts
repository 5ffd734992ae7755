import type { Result } from 'neverthrow';

/** What one attempt to sign in must bring back. It is made for one browser and used once. */
export type SignInAttempt = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** Somebody who signed in, as the identity provider of the team says. */
export type SignedInPerson = {
  /** Issuer, a bar, and subject. */
  readonly principal: string;
  readonly name?: string;
  /** When the person last proved who they are, in milliseconds; 0 if the provider does not say. */
  readonly provedAt: number;
};

export type SignInRefusal =
  /** The provider, or a check of what it sent, says no. */
  | { readonly code: 'sign_in_refused'; readonly cause: string }
  | { readonly code: 'identity_unreachable'; readonly cause: string };

/** Sends browsers to the identity provider of the team, and checks with what they come back. */
export type BrowserSignIn = {
  /** With `isAgain`, the provider asks the person again even if it knows the browser. */
  begin(wish: {
    readonly isAgain: boolean;
  }): Promise<Result<{ readonly address: string; readonly attempt: SignInAttempt }, SignInRefusal>>;
  /** `answer` is the query with which the browser came back. */
  finish(answer: string, attempt: SignInAttempt): Promise<Result<SignedInPerson, SignInRefusal>>;
};

/** Seals values that a browser keeps for the server. What was sealed for one purpose cannot be opened for another. */
export type Sealer = {
  /** The times are in milliseconds. */
  seal(purpose: string, value: object, times: { readonly now: number; readonly endsAt: number }): Promise<string>;
  /** `undefined` for what is forged, over, or was sealed for something else. */
  open(purpose: string, sealed: string, now: number): Promise<unknown>;
};
