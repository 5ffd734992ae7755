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
  /** The client that browsers sign in with. */
  readonly browserClient: { readonly id: string; readonly secret: string };
  readonly stop: () => Promise<void>;
};

const testTools = createRequire(new URL('package.json', import.meta.url));
const SECRET = 'secret';
const BROWSERS = 'browsers';
/** People who sign in at a page. Whatever a client of ours asks for was agreed to. */
const SIGNING_IN = {
  claims: { openid: ['sub'], profile: ['name'] },
  conformIdTokenClaims: false,
  findAccount: (_: unknown, sub: string) => ({
    accountId: sub,
    claims: async () => ({ sub, name: `${sub.slice(0, 1).toUpperCase()}${sub.slice(1)}` }),
  }),
  interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/login/${uid}` },
  loadExistingGrant: async ({ oidc }: GrantContext) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid profile');
    await grant.save();
    return grant;
  },
};
/** Anybody may say who they are, and since when. */
const LOGIN_PAGE = `<!doctype html><title>Who are you?</title><form method="post"><label>Name <input name="who"></label>
<label>Seconds ago <input name="ago" value="0"></label><button>Sign in</button></form>`;

type Provider = {
  readonly callback: () => RequestListener;
  readonly interactionFinished: (...given: readonly unknown[]) => Promise<void>;
};
type Packed = { readonly default: new (issuer: string, options: object) => Provider };
type GrantContext = {
  readonly oidc: {
    readonly provider: {
      readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<void> };
    };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
};

/** `undefined`, after one loud line, if the tools of tests were not installed. */
export async function startOpenId(
  people: readonly string[],
  redirectUris: readonly string[] = [],
): Promise<TestOpenId | undefined> {
  try {
    return await started(people, redirectUris);
  } catch (error) {
    process.stderr.write(
      `SKIPPED: no OpenID provider, so signing in is not tested here (${(error as Error).message}).\n`,
    );
    return undefined;
  }
}

async function started(people: readonly string[], redirectUris: readonly string[]): Promise<TestOpenId> {
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
    clients: [
      ...people.map((who) => ({
        client_id: who,
        client_secret: SECRET,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
      ...(redirectUris.length === 0
        ? []
        : [{ client_id: BROWSERS, client_secret: SECRET, redirect_uris: redirectUris }]),
    ],
    ...SIGNING_IN,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, getResourceServerInfo: resourceServer },
    },
  });
  server.on('request', answering(provider));
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
    browserClient: { id: BROWSERS, secret: SECRET },
    stop: () =>
      new Promise((stopped) => {
        server.closeAllConnections();
        server.close(() => stopped());
      }),
  };
}

/** The provider, with a page of its own for signing in. */
function answering(provider: Provider): RequestListener {
  const answer = provider.callback();
  return async (request, response) => {
    if (!request.url?.startsWith('/login/')) return answer(request, response);
    if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(LOGIN_PAGE);
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const login = { accountId: form.get('who'), ts: Math.floor(Date.now() / 1_000) - Number(form.get('ago') ?? 0) };
    return provider.interactionFinished(request, response, { login });
  };
}
