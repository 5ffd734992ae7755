import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { err, ok } from 'neverthrow';
import * as z from 'zod';
import type { Identity, IdentityProvider } from '../app/ports/team-database.ts';

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
export function oidcProvider(issuer: string): IdentityProvider {
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
        return ok(identityOf(issuer, payload));
      } catch (cause) {
        if (cause instanceof errors.JWKSTimeout || !(cause instanceof errors.JOSEError)) {
          return err({ code: 'identity_unreachable', cause: cause instanceof Error ? cause.message : String(cause) });
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
  return createRemoteJWKSet(new URL(found.jwks_uri), { cooldownDuration: KEY_COOLDOWN_MS });
}

function identityOf(issuer: string, { sub = '', exp = 0, scope }: JWTPayload): Identity {
  const scopes = typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : [];
  return { principal: `${issuer}|${sub}`, scopes, expiresAt: exp * 1_000 };
}
