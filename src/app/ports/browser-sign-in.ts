import type { Result } from 'neverthrow';

/** What one attempt to sign in must bring back. It is made for one browser and used once. */
export type SignInAttempt = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** Somebody who signed in, as the identity provider of the team says. */
export type SignedInPerson = {
  /** Issuer, a bar, and subject. */
  readonly principal: string;
  readonly name?: string;
  /** The groups that the provider says they are in, as they are named in a space. */
  readonly groups?: readonly string[];
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

/** Why somebody could not sign in to a space from this machine. */
export type SpaceSignInRefusal =
  | SignInRefusal
  /** The server of the team does not answer, or not as one does. */
  | { readonly code: 'team_unreachable'; readonly cause: string }
  /** The server has no identity provider. */
  | { readonly code: 'provider_missing' }
  /** The provider does not register programs by itself. */
  | { readonly code: 'client_id_missing'; readonly issuer: string }
  /** Nobody came back from the browser. */
  | { readonly code: 'sign_in_unanswered' }
  | { readonly code: 'sign_in_not_kept'; readonly file: string; readonly cause: string };

/** Why there is no token for the next call to a space. */
export type SpaceTokenRefusal =
  /** The person must sign in again. */
  { readonly code: 'sign_in_over' } | Extract<SignInRefusal, { readonly code: 'identity_unreachable' }>;

/** The sign-ins of this machine's user to spaces of teams. A space is named by its MCP address. */
export type SpaceSignIns = {
  /** Asks the server who its identity provider is. A browser must then open the address. */
  begin(
    space: string,
    client: { readonly redirectUri: string; readonly clientId: string | undefined },
  ): Promise<Result<BegunSpaceSignIn, SpaceSignInRefusal>>;
  /** Whether somebody signed in, even if that is over by now. */
  has(space: string): boolean;
  /** A token for the next call. It is another one than the one that the server refused, if any. */
  token(space: string, refused: string | undefined): Promise<Result<string, SpaceTokenRefusal>>;
  /** Forgets a sign-in, and has the provider revoke it if it can; `undefined` if there was none. */
  end(space: string): Promise<{ readonly isRevoked: boolean } | undefined>;
};

export type BegunSpaceSignIn = {
  readonly address: string;
  /** What the browser must bring back. */
  readonly state: string;
  /** `answer` is the query with which the browser came back. */
  finish(answer: string): Promise<Result<Omit<SignedInPerson, 'provedAt' | 'groups'>, SpaceSignInRefusal>>;
};
