import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A real OpenID provider on loopback, for tests. */
export type TestOpenId = {
  readonly issuer: string;
  /** An access token as the provider issues it to somebody for a resource. */
  readonly accessToken: (who: string, wish: { readonly resource: string; readonly scope: string }) => Promise<string>;
  /** A token with any claims, signed with the provider's own key. */
  readonly signed: (claims: Record<string, unknown>) => Promise<string>;
  readonly stop: () => Promise<void>;
};

const testTools = createRequire(new URL('package.json', import.meta.url));
const SECRET = 'secret';

type Packed = {
  readonly default: new (issuer: string, options: object) => { readonly callback: () => RequestListener };
};

/** `undefined`, after one loud line, if the tools of tests were not installed. */
export async function startOpenId(people: readonly string[]): Promise<TestOpenId | undefined> {
  try {
    return await started(people);
  } catch (error) {
    process.stderr.write(
      `SKIPPED: no OpenID provider, so signing in is not tested here (${(error as Error).message}).\n`,
    );
    return undefined;
  }
}

async function started(people: readonly string[]): Promise<TestOpenId> {
  const path = testTools.resolve('oidc-provider');
  const warn = console.warn;
  console.warn = () => undefined;
  const { default: Provider } = (await import(path)) as Packed;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' };
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resourceServer = (_: unknown, resource: string) => ({
    scope: 'workrail:read workrail:agent',
    audience: resource,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: 'RS256' } },
  });
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    cookies: { keys: ['test'] },
    clients: people.map((who) => ({
      client_id: who,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, getResourceServerInfo: resourceServer },
    },
  });
  server.on('request', provider.callback());
  console.warn = warn;
  return {
    issuer,
    accessToken: async (who, { resource, scope }) => {
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${who}:${SECRET}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
      });
      return ((await answer.json()) as { readonly access_token: string }).access_token;
    },
    signed: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'test' }).sign(privateKey),
    stop: () =>
      new Promise((stopped) => {
        server.closeAllConnections();
        server.close(() => stopped());
      }),
  };
}
