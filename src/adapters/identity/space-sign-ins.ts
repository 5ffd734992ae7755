import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import * as openid from 'openid-client';
import * as z from 'zod';
import type {
  BegunSpaceSignIn,
  SpaceSignInRefusal,
  SpaceSignIns,
  SpaceTokenRefusal,
} from '../../app/ports/browser-sign-in.ts';
import type { Clock, Hasher } from '../../app/ports/system-services.ts';
import { digestHex, ownJsonBytes } from '../../core/json/canonical-json.ts';
import { defined, parseJson } from '../../core/json/json-value.ts';
import { readCached } from '../guarded-file.ts';
import { systemLocks } from '../lock/system-locks.ts';
import { patience, turnTaking, waitForExclusive } from '../lock/wait-for-lock.ts';
import { putDocument } from '../sources/file-source-list.ts';
import { discoveredProvider, providerAway, reasonOf, refusalOf, requestOptions } from './identity-provider.ts';

const signInSchema = z.strictObject({
  v: z.literal(1),
  /** The MCP address of the space. */
  space: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  /** Missing after the provider has ended the sign-in. */
  accessToken: z.string().exactOptional(),
  /** Some providers do not say. */
  expiresAtMs: z.number().exactOptional(),
  refreshToken: z.string().exactOptional(),
});
type KeptSignIn = z.infer<typeof signInSchema>;

const metadataSchema = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.url()).optional(),
  scopes_supported: z.array(z.string()).optional(),
});

const METADATA_MS_MAX = 5_000;
/** A call that takes a while must not outlive its token. */
const EARLY_MS = 60_000;
const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;

type Parts = { readonly dataDir: string; readonly clock: Clock; readonly sha256: Hasher['sha256'] };

/** One file for each space, which only this user can read. */
export function spaceSignIns({ dataDir, clock, sha256 }: Parts): SpaceSignIns {
  const inTurn = turnTaking<string>();
  const fileOf = (space: string) => join(dataDir, 'keys', `space-${digestHex(sha256(ownJsonBytes({ space })))}.json`);
  const isUsable = ({ accessToken, expiresAtMs = Infinity }: KeptSignIn, refused: string | undefined, earlyMs = 0) =>
    accessToken !== undefined && accessToken !== refused && clock.nowMs() + earlyMs < expiresAtMs;

  /** Providers take a refresh token once, and one that is used twice for stolen: a single process may send it. */
  async function refreshed(file: string, refused: string | undefined): Promise<Result<string, SpaceTokenRefusal>> {
    const { tryExclusive } = await systemLocks();
    const path = `${file}.lock`;
    const waiting = patience({ pause: (ms) => pause(ms), nowMs: clock.nowMs });
    const held = await waitForExclusive({ path, attempt: () => tryExclusive([path]) }, waiting);
    if (held.kind === 'busy') return err(providerAway('another process waits for its answer'));
    try {
      const kept = readKept(file);
      if (kept?.accessToken !== undefined && isUsable(kept, refused, EARLY_MS)) return ok(kept.accessToken);
      if (kept?.refreshToken === undefined) return err({ code: 'sign_in_over' });
      const next = await nextTokens(kept, kept.refreshToken, clock);
      if (next.isErr() && next.error.code === 'sign_in_over') putDocument(file, ended(kept));
      if (next.isErr()) {
        const isStillGood = next.error.code === 'identity_unreachable' && isUsable(kept, refused);
        return isStillGood ? ok(kept.accessToken ?? '') : err(next.error);
      }
      putDocument(file, next.value);
      return ok(next.value.accessToken);
    } finally {
      held.lock.release();
    }
  }

  return {
    begin: (space, client) =>
      begin(space, client, (tokens) => {
        const file = fileOf(space);
        return putDocument(file, { v: 1, space, ...withTimes(tokens, clock) }).mapErr(
          ({ cause }): SpaceSignInRefusal => ({ code: 'sign_in_not_kept', file, cause }),
        );
      }),
    has: (space) => readKept(fileOf(space)) !== undefined,
    token: async (space, refused) => {
      const file = fileOf(space);
      const kept = readKept(file);
      if (kept === undefined) return err({ code: 'sign_in_over' });
      if (kept.accessToken !== undefined && isUsable(kept, refused, EARLY_MS)) return ok(kept.accessToken);
      return inTurn(file, () => refreshed(file, refused));
    },
    end: async (space) => {
      const file = fileOf(space);
      const kept = readKept(file);
      rmSync(file, { force: true });
      return kept === undefined ? undefined : { isRevoked: await revoked(kept) };
    },
  };
}

function readKept(file: string): KeptSignIn | undefined {
  const text = readCached(file)?.toString();
  const parsed = text === undefined ? undefined : parseJson(text).unwrapOr(undefined);
  return signInSchema.safeParse(parsed).data;
}

function ended({ v, space, issuer, clientId }: KeptSignIn): KeptSignIn {
  return { v, space, issuer, clientId };
}

type NewTokens = {
  readonly issuer: string;
  readonly clientId: string;
  readonly tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;
};

function withTimes({ issuer, clientId, tokens }: NewTokens, clock: Clock) {
  const seconds = tokens.expiresIn();
  return {
    issuer,
    clientId,
    accessToken: tokens.access_token,
    ...defined({
      expiresAtMs: seconds === undefined ? undefined : clock.nowMs() + seconds * 1_000,
      refreshToken: tokens.refresh_token,
    }),
  };
}

async function nextTokens(
  { space, issuer, clientId }: KeptSignIn,
  refreshToken: string,
  clock: Clock,
): Promise<Result<KeptSignIn & { readonly accessToken: string }, SpaceTokenRefusal>> {
  try {
    const provider = await discoveredProvider(issuer, clientId, openid.None());
    const tokens = await openid.refreshTokenGrant(provider, refreshToken, { resource: space });
    // A provider that does not replace the refresh token sends none.
    return ok({ v: 1, space, refreshToken, ...withTimes({ issuer, clientId, tokens }, clock) });
  } catch (cause) {
    const isOver = cause instanceof openid.ResponseBodyError && [BAD_REQUEST, UNAUTHORIZED].includes(cause.status);
    return err(isOver ? { code: 'sign_in_over' } : providerAway(cause));
  }
}

async function revoked({ issuer, clientId, refreshToken }: KeptSignIn): Promise<boolean> {
  if (refreshToken === undefined) return false;
  try {
    const provider = await discoveredProvider(issuer, clientId, openid.None());
    await openid.tokenRevocation(provider, refreshToken);
    return true;
  } catch {
    // Not every provider offers it, and it may be away. The file is gone either way.
    return false;
  }
}

async function begin(
  space: string,
  { redirectUri, clientId: given }: { readonly redirectUri: string; readonly clientId: string | undefined },
  keepTokens: (tokens: NewTokens) => Result<void, SpaceSignInRefusal>,
): Promise<Result<BegunSpaceSignIn, SpaceSignInRefusal>> {
  const described = await providerOf(space);
  if (described.isErr()) return err(described.error);
  const { issuer, scopes } = described.value;
  const client = await clientOf(issuer, { redirectUri, clientId: given });
  if (client.isErr()) return err(client.error);
  const provider = client.value;
  const clientId = provider.clientMetadata().client_id;
  const [state, nonce] = [openid.randomState(), openid.randomNonce()];
  const verifier = openid.randomPKCECodeVerifier();
  const isLasting = provider.serverMetadata().scopes_supported?.includes('offline_access') === true;
  const address = openid.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope: ['openid', 'profile', ...scopes, ...(isLasting ? ['offline_access'] : [])].join(' '),
    resource: space,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    // Without it, providers leave out the scope that lets a sign-in last.
    ...(isLasting && { prompt: 'consent' }),
  });
  return ok({
    address: address.href,
    state,
    finish: async (answer) => {
      const current = new URL(redirectUri);
      current.search = answer;
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      };
      try {
        const tokens = await openid.authorizationCodeGrant(provider, current, checks, { resource: space });
        const { sub = '', name }: Partial<openid.IDToken> = tokens.claims() ?? {};
        const person = { principal: `${issuer}|${sub}`, ...(typeof name === 'string' && { name }) };
        return keepTokens({ issuer, clientId, tokens }).map(() => person);
      } catch (cause) {
        return err(refusalOf(cause));
      }
    },
  });
}

/** Which provider the server of a space trusts (RFC 9728), and what to ask it for. */
async function providerOf(
  space: string,
): Promise<Result<{ readonly issuer: string; readonly scopes: readonly string[] }, SpaceSignInRefusal>> {
  try {
    const address = new URL(`/.well-known/oauth-protected-resource${new URL(space).pathname}`, space);
    const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(METADATA_MS_MAX) });
    if (!answer.ok) return err({ code: 'team_unreachable', cause: `${address.href} answers ${answer.status}` });
    const { resource, authorization_servers = [], scopes_supported = [] } = metadataSchema.parse(await answer.json());
    // A token for another address than this one would be of use to somebody else.
    if (resource !== space) return err({ code: 'team_unreachable', cause: `it says that it is ${resource}` });
    const [issuer] = authorization_servers;
    return issuer === undefined ? err({ code: 'provider_missing' }) : ok({ issuer, scopes: scopes_supported });
  } catch (cause) {
    return err({ code: 'team_unreachable', cause: reasonOf(cause) });
  }
}

/** The client that the provider was told about, or a new one for this sign-in where the provider offers that. */
async function clientOf(
  issuer: string,
  { redirectUri, clientId }: { readonly redirectUri: string; readonly clientId: string | undefined },
): Promise<Result<openid.Configuration, SpaceSignInRefusal>> {
  try {
    const known = await discoveredProvider(issuer, clientId ?? 'workrail', openid.None());
    if (clientId !== undefined) return ok(known);
    if (known.serverMetadata().registration_endpoint === undefined) return err({ code: 'client_id_missing', issuer });
    const wanted = {
      client_name: 'WorkRail',
      application_type: 'native',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    return ok(await openid.dynamicClientRegistration(new URL(issuer), wanted, openid.None(), requestOptions(issuer)));
  } catch (cause) {
    return err(refusalOf(cause));
  }
}
