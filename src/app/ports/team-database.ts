import type { Result } from 'neverthrow';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { MarkStore } from './session-marks.ts';
import type { Store } from './store.ts';
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

/** What somebody may do in a space. Each role includes those before it. */
export const ROLES = ['reader', 'agent', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Somebody with a role in a space. People are named by their identity provider: issuer, a bar, and subject. */
export type Member = { readonly principal: string; readonly role: Role };

/** The roles of programs. A program never approves and never administers. */
export const TOKEN_ROLES = ['reader', 'agent'] as const satisfies readonly Role[];

/** A token for a program. Its text is shown once and never stored. */
export type AccessToken = {
  readonly tokenId: string;
  readonly principal: string;
  readonly role: (typeof TOKEN_ROLES)[number];
  readonly madeAt: number;
  readonly expiresAt: number;
  readonly revokedAt?: number | undefined;
};

/** Who a signed-in user is, as the identity provider of the team says. */
export type Identity = {
  /** Issuer, a bar, and subject. */
  readonly principal: string;
  readonly scopes: readonly string[];
  /** In milliseconds. */
  readonly expiresAt: number;
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
export const AUDIT_ACTIONS = [
  'member_set',
  'member_removed',
  'token_created',
  'token_revoked',
  'handover_set',
  'session_handed_over',
] as const;
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
export type AuditLog = { readonly entries: readonly AuditEntry[]; readonly brokenAt?: number };

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
  audit(): Promise<Result<AuditLog, StoreFailure>>;
};

/** Who may continue a run: every agent of its space, or only who started it and whom it was given to. */
export const HANDOVERS = ['space', 'owner'] as const;
export type Handover = (typeof HANDOVERS)[number];

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

export type SpaceStore = Store & { readonly marks: MarkStore };
