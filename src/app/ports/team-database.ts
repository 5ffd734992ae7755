import type { Result } from 'neverthrow';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { GitSource } from '../../core/sources.ts';
import type { MasterKeys } from '../../core/token/keyring.ts';
import type { Handover, Role, SpaceLimits, TOKEN_ROLES } from '../../core/wire/team-paths.ts';
import type { AUDIT_ACTIONS } from '../../core/wire/team-shapes.ts';
import type { StoreFeed } from './console.ts';
import type { SealedKeyring } from './keyring-store.ts';
import type { Store, Upkeep } from './store.ts';
import type { StoreFailure } from './store-failure.ts';

export type MigrationWish = { readonly isDryRun: boolean; readonly serverRole?: string };

/** One change of the database's schema. */
export type MigrationStep = { readonly version: number; readonly title: string };

export type MigrationRefusal =
  /** A newer program has migrated the database. */
  | { readonly code: 'schema_newer'; readonly found: number; readonly known: number }
  /** A migration of this version was applied, but not the one of this program. */
  | { readonly code: 'schema_differs'; readonly version: number }
  /** There is no such role, or it may change what no server may change: it owns the tables, or has other rights beside these. */
  | { readonly code: 'server_role_unfit'; readonly role: string; readonly why: 'missing' | 'too_wide' }
  | StoreFailure;

export type SpaceRefusal =
  | MigrationRefusal
  | { readonly code: 'not_migrated'; readonly missing: number }
  | { readonly code: 'space_unknown'; readonly name: string; readonly known: readonly string[] };

/** A space: one team's sessions, apart from those of every other space in the same database. */
export type Space = { readonly name: string; readonly sessions: number };

/** Somebody who signed in, and the groups that the identity provider says they are in. */
export type Person = {
  readonly principal: string;
  /** Named as members are: `group:`, issuer, a bar, and the name of the group. */
  readonly groups: readonly string[];
};

/** The role of a person, and the group that it comes from unless the person has it by name. */
export type GivenRole = { readonly role: Role; readonly through?: string };

/** The role that somebody has in a space. */
export type SpaceRole = { readonly name: string; readonly role: Role };

/** The rules of a space. */
export type SpaceSettings = {
  /** Who may continue a run. */
  readonly handover: Handover;
  /** Whether only somebody else than the author of a draft may approve it. */
  readonly isFourEyes: boolean;
  readonly limits: SpaceLimits;
  /** The repositories whose workflows agents are offered, as an admin accepted them. */
  readonly sources: readonly GitSource[];
};

/** A repository of a space at a commit, with the names of its workflow files. */
export type SpaceSource = {
  readonly source: GitSource;
  readonly isAccepted: boolean;
  readonly files: readonly string[];
};

/** A workflow file of a repository. */
export type WorkflowText = { readonly path: string; readonly text: string };

/** One change of the rules, which is one entry in the audit log. */
export type SettingChange =
  | Pick<SpaceSettings, 'handover'>
  | Pick<SpaceSettings, 'isFourEyes'>
  | { readonly [limit in keyof SpaceLimits]: Pick<SpaceLimits, limit> }[keyof SpaceLimits];

/**
 * How much a space holds. A session is open until its runs are finished or one of them was closed. Bytes are those of
 * workflows, and of events, snapshots and artifacts for each session; deleted sessions count until they are collected.
 */
export type SpaceUse = { readonly openSessions: number; readonly bytes: number };

/** A person or a group with a role in a space. People are named by their identity provider: issuer, a bar, and subject. */
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
  /** Only jobs of these repositories; `*` is any. Everybody who may push to one of them decides what its jobs say. */
  readonly repositories?: readonly string[] | undefined;
  /** Only jobs of this branch or tag, as the claim `ref` names it; `*` is any. */
  readonly ref?: string | undefined;
};

/** Who a signed-in user is, as the identity provider of the team says. */
export type Identity = {
  /** Issuer, a bar, and subject. */
  readonly principal: string;
  readonly groups: readonly string[];
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

/** What is recorded beside a change that happens elsewhere, or that changes nothing. */
export type NotedAction = Extract<
  AuditEntry['action'],
  | 'signed_in'
  | 'signed_out'
  | 'decision_refused'
  | 'keys_rotated'
  | 'keys_resealed'
  | 'session_deleted'
  | 'session_restored'
  | 'session_exported'
  | 'sessions_collected'
  | 'copy_started'
>;

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
  /** The highest role that the person and their groups have. */
  roleOf(person: Person): Promise<Result<GivenRole | undefined, StoreFailure>>;
  settings(): Promise<Result<SpaceSettings, StoreFailure>>;
  change(setting: SettingChange, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  /** Reads every session of the space, so nothing that agents wait for asks for it each time. */
  use(): Promise<Result<SpaceUse, StoreFailure>>;
  /** Whom a session was given to. */
  handedTo(sessionId: SessionId): Promise<Result<string | undefined, StoreFailure>>;
  /** Gives a session to somebody else; false if there is no such session. */
  handOver(sessionId: SessionId, principal: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  /** Those in use, and those that wait for an admin. */
  sources(): Promise<Result<readonly SpaceSource[], StoreFailure>>;
  /** The files of those in use. */
  sourceTexts(): Promise<
    Result<readonly { readonly source: GitSource; readonly texts: readonly WorkflowText[] }[], StoreFailure>
  >;
  /** Keeps a repository at a commit until an admin accepts it. */
  proposeSource(
    source: GitSource,
    texts: readonly WorkflowText[],
    made: ChangeMade,
  ): Promise<Result<void, StoreFailure>>;
  /** Uses what was proposed; false if it is no longer exactly this commit. */
  acceptSource(source: Pick<GitSource, 'name' | 'commit'>, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  /** Returns false if there is no such source. */
  removeSource(name: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  ci(): Promise<Result<readonly TrustedCi[], StoreFailure>>;
  trustCi(trusted: TrustedCi, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  /** Returns false if it was not trusted. */
  removeCi(issuer: string, made: ChangeMade): Promise<Result<boolean, StoreFailure>>;
  /** Records what an auditor asks about. */
  note(action: NotedAction, subject: string, made: ChangeMade): Promise<Result<void, StoreFailure>>;
  audit(): Promise<Result<AuditLog, StoreFailure>>;
};

/** A database that holds the stores of teams. */
export type TeamDatabase = {
  /**
   * Brings the schema up to date; returns what was done, or would be. `serverRole` is given exactly the rights that a server
   * needs, and keeps them after later migrations.
   */
  migrate(how: MigrationWish): Promise<Result<readonly MigrationStep[], MigrationRefusal>>;
  spaces(): Promise<Result<readonly Space[], SpaceRefusal>>;
  /** The spaces in which a person or one of their groups has a role. */
  spacesOf(person: Person): Promise<Result<readonly SpaceRole[], StoreFailure>>;
  /** Those of the groups that have a role in any space. */
  groupsWithRole(groups: readonly string[]): Promise<Result<readonly string[], StoreFailure>>;
  /** Whether the database answers and has the schema of this program. */
  ready(): Promise<Result<void, SpaceRefusal>>;
  /** Returns false if a space of this name exists. */
  createSpace(name: string): Promise<Result<boolean, SpaceRefusal>>;
  /** Without a master key, the keys that sign tokens cannot be read or written. */
  openSpace(
    name: string,
    masterKey: Uint8Array | undefined,
    previousKeys?: readonly Uint8Array[],
  ): Promise<Result<SpaceStore, SpaceRefusal>>;
  /** The names of the spaces whose keys none of the master keys opens. */
  unopenedSpaces(keys: MasterKeys): Promise<Result<readonly string[], StoreFailure>>;
  /** Who may do what in a space. */
  access(name: string): Promise<Result<SpaceAccess, SpaceRefusal>>;
  /** Browser sessions that were ended before their time, by the digests of their keys. */
  readonly endedSessions: EndedSessions;
  /** Of all spaces. It reads only what waits. */
  waiting(): Promise<Result<WaitingCount, StoreFailure>>;
  /** Of this process. */
  connections(): ConnectionUse;
  /** What makes the database unfit to keep a team's work. */
  dangers(): Promise<Result<readonly DatabaseDanger[], SpaceRefusal>>;
  close(): Promise<void>;
};

/** Connections that are in use, and callers that wait for one. */
export type ConnectionUse = { readonly inUse: number; readonly waiting: number };

/** How many runs wait for a person, and when something last happened in the session that has waited longest. */
export type WaitingCount = { readonly runs: number; readonly since: number | undefined };

export type EndedSessions = {
  end(
    digest: Sha256Digest,
    time: { readonly now: number; readonly endsAt: number },
  ): Promise<Result<void, StoreFailure>>;
  has(digest: Sha256Digest): Promise<Result<boolean, StoreFailure>>;
};

/** `no_access`: nobody has a token, so without an identity provider nobody can call. */
export type DatabaseDanger = 'fsync_off' | 'full_page_writes_off' | 'superuser' | 'bypasses_rls' | 'no_access';

export type SpaceStore = Store & Upkeep & { readonly feed: StoreFeed; readonly keyring: SealedKeyring };
