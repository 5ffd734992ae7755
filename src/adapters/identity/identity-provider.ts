import { hkdfSync } from 'node:crypto';
import {
  createRemoteJWKSet,
  EncryptJWT,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtDecrypt,
  jwtVerify,
} from 'jose';
import { err, ok } from 'neverthrow';
import * as openid from 'openid-client';
import * as z from 'zod';
import type { BrowserSignIn, Sealer, SignInRefusal } from '../../app/ports/browser-sign-in.ts';
import type { Identity, IdentityProvider } from '../../app/ports/team-database.ts';
import { defined } from '../../core/json/json-value.ts';
import { GROUP_MARK, MEMBER_NAME } from '../../core/wire/team-shapes.ts';

/** Algorithms with a public key. A token that names another one is refused. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const KEY_COOLDOWN_MS = 30_000;
const DISCOVERY_MS_MAX = 5_000;
const CLOCK_TOLERANCE_S = 5;

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url() });

/**
 * The identity provider of a team, found by its issuer. Keys are fetched when a token first names them, and not more often
 * than twice a minute.
 */
export function oidcProvider(issuer: string, groupsClaim = GROUPS_CLAIM): IdentityProvider {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const keysOfIssuer = () => {
    keys ??= discoveredKeys(issuer).catch((cause: unknown) => {
      keys = undefined;
      throw cause;
    });
    return keys;
  };
  return {
    issuer,
    identify: async (token, audiences) => {
      try {
        const { payload } = await jwtVerify(token, await keysOfIssuer(), {
          issuer,
          audience: [...audiences],
          algorithms: ALGORITHMS,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: CLOCK_TOLERANCE_S,
        });
        return ok(identityOf(issuer, payload, groupsClaim));
      } catch (cause) {
        if (cause instanceof errors.JWKSTimeout || !(cause instanceof errors.JOSEError)) {
          return err({ code: 'identity_unreachable', cause: reasonOf(cause) });
        }
        return ok(undefined);
      }
    },
  };
}

async function discoveredKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(DISCOVERY_MS_MAX) });
  if (!answer.ok) throw new Error(`${address} answers ${answer.status}`);
  const found = discoverySchema.parse(await answer.json());
  if (found.issuer !== issuer) throw new Error(`${address} names another issuer: ${found.issuer}`);
  const keysAt = new URL(found.jwks_uri);
  if (keysAt.protocol !== 'https:' && !isPlainAllowed(issuer))
    throw new Error(`${address} names keys without https: ${keysAt.href}`);
  return createRemoteJWKSet(keysAt, { cooldownDuration: KEY_COOLDOWN_MS });
}

/** No database stores a NUL, and nobody sees a character without width. */
const SUBJECT = /^\P{C}{1,1000}$/u;

/** Who a token is for; `undefined` for a subject that nobody can have. */
function identityOf(issuer: string, payload: JWTPayload, groupsClaim: string): Identity | undefined {
  const { sub, exp = 0, scope, scp, ...claims } = payload;
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) return undefined;
  // RFC 9068 names the claim "scope"; several providers write "scp", as a text or as a list.
  const scopes = [scope, scp].flatMap(scopesIn);
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined);
  // GitHub names the repository and the full ref; GitLab the path of the project, and a branch as it names a tag.
  const short = text('ref');
  const isShort = short !== undefined && !short.startsWith('refs/') && text('ref_type') !== undefined;
  const ref = text('ref_path') ?? (isShort ? `refs/${text('ref_type') === 'tag' ? 'tags' : 'heads'}/${short}` : short);
  const job = defined({ repository: text('repository') ?? text('project_path'), ref, sha: text('sha') });
  const groups = groupsIn(issuer, payload[groupsClaim]);
  return { principal: `${issuer}|${sub}`, groups, scopes, expiresAt: exp * 1_000, job };
}

/** Where most providers name the groups of a person. */
const GROUPS_CLAIM = 'groups';

/** The groups of a claim, named as they are in a space. */
function groupsIn(issuer: string, claim: unknown): readonly string[] {
  const names = Array.isArray(claim) ? claim : [claim];
  return names
    .filter((name) => typeof name === 'string' && name !== '')
    .map((name) => `${GROUP_MARK}${issuer}|${name}`)
    .filter((group) => MEMBER_NAME.test(group));
}

function scopesIn(claim: unknown): readonly string[] {
  if (Array.isArray(claim)) return claim.filter((one) => typeof one === 'string');
  return typeof claim === 'string' ? claim.split(' ').filter((one) => one !== '') : [];
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** How a browser signs in: the client that the provider knows this server as. Without a secret it is a public client. */
export type SignInClient = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  readonly groupsClaim?: string;
};

/** Signing in with the authorization code flow: PKCE, a state and a nonce for every time. */
export function browserSignIn(client: SignInClient): BrowserSignIn {
  const { issuer, clientId, clientSecret, redirectUri, groupsClaim = GROUPS_CLAIM } = client;
  let discovered: Promise<openid.Configuration> | undefined;
  const configuration = () => {
    const auth = clientSecret === undefined ? openid.None() : openid.ClientSecretBasic(clientSecret);
    discovered ??= discoveredProvider(issuer, clientId, auth).catch((cause: unknown) => {
      discovered = undefined;
      throw cause;
    });
    return discovered;
  };
  return {
    begin: async ({ isAgain }) => {
      try {
        const verifier = openid.randomPKCECodeVerifier();
        const [state, nonce] = [openid.randomState(), openid.randomNonce()];
        const provider = await configuration();
        // Some providers name groups only to those who ask for the scope of that name.
        const isScope = provider.serverMetadata().scopes_supported?.includes(groupsClaim) === true;
        const address = openid.buildAuthorizationUrl(provider, {
          redirect_uri: redirectUri,
          scope: isScope ? `openid profile ${groupsClaim}` : 'openid profile',
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          state,
          nonce,
          // A provider that is given a largest age says when the person proved who they are.
          max_age: String(AGE_S_MAX),
          ...(isAgain && { prompt: 'login' }),
        });
        return ok({ address: address.href, attempt: { state, nonce, verifier } });
      } catch (cause) {
        return err(providerAway(cause));
      }
    },
    finish: async (answer, { state, nonce, verifier }) => {
      try {
        // The address behind a proxy is another one than the provider was told.
        const current = new URL(redirectUri);
        current.search = answer;
        const tokens = await openid.authorizationCodeGrant(await configuration(), current, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims: Partial<openid.IDToken> = tokens.claims() ?? {};
        const { sub = '', auth_time, name } = claims;
        if (!SUBJECT.test(sub))
          return err({ code: 'sign_in_refused', cause: 'the provider names nobody that can be stored' });
        const provedAt = typeof auth_time === 'number' ? auth_time * 1_000 : 0;
        const groups = groupsIn(issuer, claims[groupsClaim]);
        return ok({ principal: `${issuer}|${sub}`, groups, provedAt, ...(typeof name === 'string' && { name }) });
      } catch (cause) {
        return err(refusalOf(cause));
      }
    },
  };
}

/** The provider as it describes itself. Without https it must be on this machine. */
export function discoveredProvider(
  issuer: string,
  clientId: string,
  auth: openid.ClientAuth,
): Promise<openid.Configuration> {
  return openid.discovery(new URL(issuer), clientId, undefined, auth, requestOptions(issuer));
}

export function requestOptions(issuer: string): openid.DiscoveryRequestOptions {
  return {
    timeout: DISCOVERY_MS_MAX / 1_000,
    ...(isPlainAllowed(issuer) && { execute: [openid.allowInsecureRequests] }),
  };
}

/** Nobody is between two programs of this machine. */
function isPlainAllowed(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && LOCAL.includes(hostname);
}

/** Whether the provider said no, or nothing that makes sense. */
export function refusalOf(cause: unknown): SignInRefusal {
  const isRefused =
    cause instanceof openid.AuthorizationResponseError ||
    cause instanceof openid.ResponseBodyError ||
    cause instanceof openid.ClientError;
  return isRefused ? { code: 'sign_in_refused', cause: reasonOf(cause) } : providerAway(cause);
}

/** The longest time for which a sign-in at the provider lets somebody into the console without proving it again. */
const AGE_S_MAX = 43_200;

export function providerAway(cause: unknown): Extract<SignInRefusal, { readonly code: 'identity_unreachable' }> {
  return { code: 'identity_unreachable', cause: reasonOf(cause) };
}

export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // "fetch failed" hides that a certificate is not trusted.
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}

const SEAL = { alg: 'dir', enc: 'A256GCM' } as const;

/** Seals what a browser keeps for us. Every replica has the same master key, so any of them can open it. */
export function masterKeySealer(masterKey: Uint8Array, previousKeys: readonly Uint8Array[] = []): Sealer {
  const keyFor = (purpose: string, from = masterKey) =>
    new Uint8Array(hkdfSync('sha256', from, 'workrail', purpose, 32));
  const openWith = async (key: Uint8Array, sealed: string, now: number) => {
    try {
      const { payload } = await jwtDecrypt(sealed, key, {
        currentDate: new Date(now),
        requiredClaims: ['exp'],
        keyManagementAlgorithms: [SEAL.alg],
        contentEncryptionAlgorithms: [SEAL.enc],
      });
      return payload['value'];
    } catch {
      // Forged, expired, sealed with another key or for another purpose.
      return undefined;
    }
  };
  return {
    seal: (purpose, value, { now, endsAt }) =>
      new EncryptJWT({ value })
        .setProtectedHeader(SEAL)
        .setIssuedAt(new Date(now))
        .setExpirationTime(new Date(endsAt))
        .encrypt(keyFor(purpose)),
    open: async (purpose, sealed, now) => {
      for (const key of [masterKey, ...previousKeys]) {
        const opened = await openWith(keyFor(purpose, key), sealed, now);
        if (opened !== undefined) return opened;
      }
      return undefined;
    },
  };
}
