import { err, ok, type Result } from 'neverthrow';
import { digestHex, ownJsonBytes, type Sha256, type Sha256Digest } from '../../core/json/canonical-json.ts';
import { toBase64Url } from '../../core/text/binary-text.ts';
import { ROLES, type Role } from '../../core/wire/team-paths.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Clock } from '../ports/system-services.ts';
import type { AccessToken, GivenRole, IdentityProvider, SpaceAccess, SpaceRefusal } from '../ports/team-database.ts';

/** What handing out access needs. */
export type AccessServices = { readonly clock: Clock; readonly sha256: Sha256 };

/** What a new token is for. */
export type TokenWish = Pick<AccessToken, 'principal' | 'role'> & { readonly days: number; readonly by: string };

/** A token and its text, which is shown once. */
export type CreatedToken = AccessToken & { readonly text: string };

const TOKEN = /^wrp_[\w-]{43}$/;
const TOKEN_ID_LENGTH = 8;
const DAY_MS = 86_400_000;

/** Creates a token for a program. `random` has 32 bytes. */
export async function createToken(
  { clock, sha256 }: AccessServices,
  access: SpaceAccess,
  { random, ...wish }: TokenWish & { readonly random: Uint8Array },
): Promise<Result<CreatedToken, StoreFailure>> {
  const { principal, role, days, by } = wish;
  const text = `wrp_${toBase64Url(random)}`;
  const digest = digestOf(sha256, text);
  const madeAt = clock.nowMs();
  const tokenId = digestHex(digest).slice(0, TOKEN_ID_LENGTH);
  const token = { tokenId, principal, role, madeAt, expiresAt: madeAt + days * DAY_MS };
  return (await access.addToken(token, digest, { by, at: madeAt })).map(() => ({ ...token, text }));
}

/** Whether a token counts at a moment. */
export function tokenState({ expiresAt, revokedAt }: AccessToken, now: number): 'valid' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt > now ? 'valid' : 'expired';
}

function digestOf(sha256: Sha256, text: string): Sha256Digest {
  return sha256(ownJsonBytes(text));
}

/** Somebody who may call a space. */
export type SpaceCaller = {
  readonly principal: string;
  readonly role: Role;
  /** When the credential ends, in milliseconds. */
  readonly expiresAt: number;
};

export type AccessRefusal =
  /** Forged, expired, revoked, of another space, or meant for another server. */
  | { readonly code: 'credential_invalid' }
  /** Somebody known, who has no role in this space; the space may not even exist. */
  | { readonly code: 'not_a_member'; readonly principal: string }
  | { readonly code: 'identity_unreachable'; readonly cause: string }
  | Exclude<SpaceRefusal, { readonly code: 'space_unknown' }>;

/** Where credentials are checked. */
export type Entrance = AccessServices & {
  readonly access: (space: string) => Promise<Result<SpaceAccess, SpaceRefusal>>;
  readonly identity: IdentityProvider | undefined;
  /** The addresses that a token of the identity provider may be meant for. */
  readonly audiences: (space: string) => readonly string[];
  /** Whom a group let in, so that this is noted once and not for each call. */
  readonly letIn: { get(entry: string): true | undefined; set(entry: string, isNoted: true): void };
};

/** What the scopes of an access token allow at most. */
const SCOPE_ROLES: { readonly [scope: string]: Role } = { 'workrail:read': 'reader', 'workrail:agent': 'admin' };

/** Finds out who calls, and what the caller may do in the space. */
export async function authenticate(
  entrance: Entrance,
  space: string,
  credential: string,
): Promise<Result<SpaceCaller, AccessRefusal>> {
  return TOKEN.test(credential) ? byToken(entrance, space, credential) : byIdentity(entrance, space, credential);
}

async function byToken({ access, clock, sha256 }: Entrance, space: string, text: string) {
  const opened = await openedSpace(access, space);
  if (opened.isErr()) return err(opened.error);
  if (opened.value === undefined) return err({ code: 'credential_invalid' as const });
  const found = await opened.value.tokenWith(digestOf(sha256, text), clock.nowMs());
  return found.andThen((token) => (token === undefined ? err({ code: 'credential_invalid' as const }) : ok(token)));
}

async function byIdentity(
  { access, identity, audiences, letIn, clock }: Entrance,
  space: string,
  token: string,
): Promise<Result<SpaceCaller, AccessRefusal>> {
  if (identity === undefined) return err({ code: 'credential_invalid' });
  const known = await identity.identify(token, audiences(space));
  if (known.isErr()) return err(known.error);
  if (known.value === undefined) return err({ code: 'credential_invalid' });
  const { principal, scopes, expiresAt } = known.value;
  const opened = await openedSpace(access, space);
  if (opened.isErr()) return err(opened.error);
  const given = opened.value === undefined ? ok(undefined) : await opened.value.roleOf(known.value);
  if (given.isErr()) return err(given.error);
  const allowed = narrowed(given.value?.role, scopes);
  if (opened.value === undefined || given.value === undefined || allowed === undefined) {
    return err({ code: 'not_a_member', principal });
  }
  const entry = signInSubject(principal, given.value);
  if (given.value.through !== undefined && letIn.get(`${space}\n${entry}`) === undefined) {
    const noted = await opened.value.note('signed_in', entry, { by: principal, at: clock.nowMs() });
    if (noted.isErr()) return err(noted.error);
    letIn.set(`${space}\n${entry}`, true);
  }
  return ok({ principal, role: allowed, expiresAt });
}

/** What the audit log says about somebody who came in: who, and which group gave them the role. */
export function signInSubject(principal: string, { role, through }: GivenRole): string {
  return through === undefined ? principal : `${principal} as ${role} through ${through}`;
}

/** An unknown space looks like one that the caller does not belong to. */
async function openedSpace(
  access: Entrance['access'],
  space: string,
): Promise<Result<SpaceAccess | undefined, Exclude<SpaceRefusal, { readonly code: 'space_unknown' }>>> {
  const opened = await access(space);
  if (opened.isOk()) return ok(opened.value);
  return opened.error.code === 'space_unknown' ? ok(undefined) : err(opened.error);
}

/** A token of the identity provider can narrow a role and never widen it. */
function narrowed(role: Role | undefined, scopes: readonly string[]): Role | undefined {
  if (role === undefined) return undefined;
  const most = Math.max(-1, ...scopes.map((scope) => ROLES.indexOf(SCOPE_ROLES[scope] ?? ('' as Role))));
  return ROLES[Math.min(most, ROLES.indexOf(role))];
}
