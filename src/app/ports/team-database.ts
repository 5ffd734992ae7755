import type { Result } from 'neverthrow';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { Handover, Role, TOKEN_ROLES } from '../../core/wire/team-paths.ts';
import type { AUDIT_ACTIONS } from '../../core/wire/team-shapes.ts';
import type { StoreFeed } from './console.ts';
import type { Store, Upkeep } from './store.ts';
import type { StoreFailure } from './store-failure.ts';

/** One change of the database's schema. */
export type MigrationStep = { readonly version: number; readonly title: string };

export type MigrationRefusal =
  /** A newer program has migrated the database. */
  | { readonly code: 'schema_newer'; readonly found: number; readonly known: number }
  /** A migration of this version was applied, but not the one of this program. */
  | { readonly code: 'schema_differs'; readonly version: number }
  | StoreFailure;

export type SpaceRefusal =
  | MigrationRefusal
  | { readonly code: 'not_migrated'; readonly missing: number }
  | { readonly code: 'space_unknown'; readonly name: string; readonly known: readonly string[] };

/** A space: one team's sessions, apart from those of every other space in the same database. */
export type Space = { readonly name: string; readonly sessions: number };

/** Somebody with a role in a space. People are named by their identity provider: issuer, a bar, and subject. */
export type Member = { readonly principal: string; readonly role: Role };

/** A token for a program. Its text is shown once and never stored. */
export type AccessToken = {
  readonly tokenId: string;
  readonly principal: string;
  readonly role: (typeof TOKEN_ROLES)[number];
  readonly madeAt: number;
  readonly expiresAt: number;
  readonly revokedAt?: number | undefined;
};

/** A CI system whose own identities count as evidence in a space. */
export type TrustedCi = {
  readonly issuer: string;
  /** Where its repositories are: `github.com` for the repository `acme/shop` of the run `github.com/acme/shop`. */
  readonly host: string;
  /** Only jobs of this branch or tag, as the claim `ref` names it. */
  readonly ref?: string | undefined;
};

/** Who a signed-in user is, as the identity provider of the team says. */
export type Identity = {
  /** Issuer, a bar, and subject. */
  readonly principal: string;
  readonly scopes: readonly string[];
  /** In milliseconds. */
  readonly expiresAt: number;
  /** What a CI system says about the job that holds the token. */
  readonly job: { readonly repository?: string; readonly ref?: string; readonly sha?: string };
};

/** Checks access tokens that the team's own identity provider issued. */
export type IdentityProvider = {
  readonly issuer: string;
  /** `undefined` for a token that is forged, expired, or meant for somebody else. */
  identify(
    token: string,
    audiences: readonly string[],
  ): Promise<Result<Identity | undefined, { readonly code: 'identity_unreachable'; readonly cause: string }>>;
};

/** A change of who may do what, as the audit log keeps it. */
export type AuditEntry = {
  readonly seq: number;
  readonly at: number;
  /** Who made the change. */
  readonly by: string;
  readonly action: (typeof AUDIT_ACTIONS)[number];
  /** The member, token, policy or session that it is about, and its role if it has one. */
  readonly subject: string;
  readonly role?: Role | undefined;
};

/** The audit log as it is stored, and the first entry that does not continue the chain. */
export type AuditLog = {
  readonly entries: readonly AuditEntry[];
  /** The chain of each entry: the digest of the chain before it and of the entry. */
  readonly chains: readonly Sha256Digest[];
  readonly brokenAt?: number;
};

/** Who makes a change, and when. */
export type ChangeMade = { readonly by: string; readonly at: number };

/** Who may do what in one space. Every change is recorded in the audit log of the space in the same transaction. */
export type SpaceAccess = {
  members(): Promise<Result<readonly Member[], StoreFailure>>;
  setMember(member: Member, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  /** Returns false if there is no such member. */
  removeMember(principal: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  tokens(): Promise<Result<readonly AccessToken[], StoreFailure>>;
  /** Only the digest of its text is stored. */
  addToken(token: AccessToken, digest: Sha256Digest, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  /** Returns false if there is no such token, or if it is revoked already. */
  revokeToken(tokenId: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  /** The token whose text has this digest, if it is neither revoked nor expired. */
  tokenWith(digest: Sha256Digest, now: number): Promise<Result<AccessToken | undefined, StoreFailure>>;
  roleOf(principal: string): Promise<Result<Role | undefined, StoreFailure>>;
  /** Who may continue a run. */
  handover(): Promise<Result<Handover, StoreFailure>>;
  setHandover(handover: Handover, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  /** Whom a session was given to. */
  handedTo(sessionId: SessionId): Promise<Result<string | undefined, StoreFailure>>;
  /** Gives a session to somebody else; false if there is no such session. */
  handOver(sessionId: SessionId, principal: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  /** Whether only somebody else than the author of a draft may approve it. */
  isFourEyes(): Promise<Result<boolean, StoreFailure>>;
  setFourEyes(isOn: boolean, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  ci(): Promise<Result<readonly TrustedCi[], StoreFailure>>;
  trustCi(trusted: TrustedCi, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  /** Returns false if it was not trusted. */
  removeCi(issuer: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  /** Records what changes nothing, and what an auditor asks about. */
  note(
    action: 'signed_in' | 'signed_out' | 'decision_refused',
    subject: string,
    made: ChangeMade,
  ): Promise<Result<void, StoreFailure>>;
  audit(): Promise<Result<AuditLog, StoreFailure>>;
};

/** A database that holds the stores of teams. */
export type TeamDatabase = {
  /** Brings the schema up to date; returns what was done, or would be. */
  migrate(how: { readonly isDryRun: boolean }): Promise<Result<readonly MigrationStep[], MigrationRefusal>>;
  spaces(): Promise<Result<readonly Space[], SpaceRefusal>>;
  /** Returns false if a space of this name exists. */
  createSpace(name: string): Promise<Result<boolean, SpaceRefusal>>;
  /** Without a master key, the keys that sign tokens cannot be read or written. */
  openSpace(name: string, masterKey: Uint8Array | undefined): Promise<Result<SpaceStore, SpaceRefusal>>;
  /** Who may do what in a space. */
  access(name: string): Promise<Result<SpaceAccess, SpaceRefusal>>;
  /** What makes the database unfit to keep a team's work. */
  dangers(): Promise<Result<readonly DatabaseDanger[], SpaceRefusal>>;
  close(): Promise<void>;
};

/** `no_access`: nobody has a token, so without an identity provider nobody can call. */
export type DatabaseDanger = 'fsync_off' | 'full_page_writes_off' | 'superuser' | 'bypasses_rls' | 'no_access';

export type SpaceStore = Store & Upkeep & { readonly feed: StoreFeed };
