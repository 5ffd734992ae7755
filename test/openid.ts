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
  /** The groups of people, as tests set them. Tokens name them from then on. */
  readonly groups: Map<string, readonly string[]>;
  /** The client that browsers sign in with. */
  readonly browserClient: { readonly id: string; readonly secret: string };
  /** The client of programs on people's machines. It has no secret. */
  readonly nativeClient: string;
  /** Signs somebody in at the pages of the provider, as a browser would; returns the address that it is sent back to. */
  readonly visit: (address: string, who: string, ago?: number) => Promise<URL>;
  /** Ends what a refresh token stands for. */
  readonly revoke: (refreshToken: string, clientId: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

const testTools = createRequire(new URL('package.json', import.meta.url));
const SECRET = 'secret';
const BROWSERS = 'browsers';
const NATIVE = 'native';
const SCOPES = 'workrail:read workrail:agent';
/** People who sign in at a page. Whatever a client of ours asks for was agreed to. */
const signingIn = (groups: TestOpenId['groups']) => ({
  claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
  conformIdTokenClaims: false,
  findAccount: (_: unknown, sub: string) => ({
    accountId: sub,
    claims: async () => ({ sub, name: `${sub.slice(0, 1).toUpperCase()}${sub.slice(1)}`, groups: groups.get(sub) }),
  }),
  extraTokenClaims: (
    _: unknown,
    { accountId, clientId }: { readonly accountId?: string; readonly clientId: string },
  ) => ({
    groups: groups.get(accountId ?? clientId),
  }),
  interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/login/${uid}` },
  loadExistingGrant: async ({ oidc }: GrantContext) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid profile groups offline_access');
    const { resource } = oidc.params;
    if (resource !== undefined) grant.addResourceScope(resource, SCOPES);
    await grant.save();
    return grant;
  },
});
/** Anybody may say who they are, and since when. */
const LOGIN_PAGE = `<!doctype html><title>Who are you?</title><form method="post"><label>Name <input name="who"></label>
<label>Seconds ago <input name="ago" value="0"></label><button>Sign in</button></form>`;

type Provider = {
  readonly callback: () => RequestListener;
  readonly interactionDetails: (
    ...given: readonly unknown[]
  ) => Promise<{ readonly prompt: { readonly name: string } }>;
  readonly interactionFinished: (...given: readonly unknown[]) => Promise<void>;
};
type Packed = { readonly default: new (issuer: string, options: object) => Provider };
type GrantContext = {
  readonly oidc: {
    readonly provider: {
      readonly Grant: new (
        of: object,
      ) => {
        addOIDCScope(scope: string): void;
        addResourceScope(resource: string, scope: string): void;
        save(): Promise<void>;
      };
    };
    readonly params: { readonly resource?: string };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
};

/** `undefined`, after one loud line, if the tools of tests were not installed. */
export async function startOpenId(
  people: readonly string[],
  redirectUris: readonly string[] = [],
  isRegistering = false,
): Promise<TestOpenId | undefined> {
  try {
    return await started(people, redirectUris, isRegistering);
  } catch (error) {
    process.stderr.write(
      `SKIPPED: no OpenID provider, so signing in is not tested here (${(error as Error).message}).\n`,
    );
    return undefined;
  }
}

async function started(
  people: readonly string[],
  redirectUris: readonly string[],
  isRegistering: boolean,
): Promise<TestOpenId> {
  const path = testTools.resolve('oidc-provider');
  const warn = console.warn;
  console.warn = () => undefined;
  const { default: Provider } = (await import(path)) as Packed;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' };
  const groups: TestOpenId['groups'] = new Map();
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resourceServer = (_: unknown, resource: string) => ({
    scope: SCOPES,
    audience: resource,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: 'RS256' } },
  });
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    cookies: { keys: ['test'] },
    clients: clientsOf(people, redirectUris),
    ...signingIn(groups),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: isRegistering },
      revocation: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: resourceServer },
    },
  });
  server.on('request', answering(provider));
  console.warn = warn;
  return {
    issuer,
    groups,
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
    nativeClient: NATIVE,
    visit: (address, who, ago = 0) => visited(address, { who, ago: String(ago) }),
    revoke: async (refreshToken, clientId) => {
      const body = new URLSearchParams({ token: refreshToken, client_id: clientId });
      await fetch(`${issuer}/token/revocation`, { method: 'POST', body });
    },
    stop: () =>
      new Promise((stopped) => {
        server.closeAllConnections();
        server.close(() => stopped());
      }),
  };
}

function clientsOf(people: readonly string[], redirectUris: readonly string[]): readonly object[] {
  return [
    ...people.map((who) => ({
      client_id: who,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    ...(redirectUris.length === 0 ? [] : [{ client_id: BROWSERS, client_secret: SECRET, redirect_uris: redirectUris }]),
    {
      client_id: NATIVE,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      // Any port (RFC 8252).
      redirect_uris: ['http://127.0.0.1/callback'],
    },
  ];
}

/** The provider, with a page of its own for signing in. */
function answering(provider: Provider): RequestListener {
  const answer = provider.callback();
  return async (request, response) => {
    if (!request.url?.startsWith('/login/')) return answer(request, response);
    if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(LOGIN_PAGE);
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const login = { accountId: form.get('who'), ts: Math.floor(Date.now() / 1_000) - Number(form.get('ago') ?? 0) };
    // A program that wants to stay signed in has the person asked for that, too.
    const { prompt } = await provider.interactionDetails(request, response);
    return provider.interactionFinished(request, response, prompt.name === 'consent' ? { consent: {} } : { login });
  };
}

const HOPS_MAX = 12;

/** What a browser does with redirects, cookies and the page for signing in. */
async function visited(address: string, form: Record<string, string>): Promise<URL> {
  const jar = new Map<string, string>();
  const { origin } = new URL(address);
  let [next, body] = [new URL(address), undefined as URLSearchParams | undefined];
  for (let hops = 0; hops < HOPS_MAX; hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const posting = body === undefined ? {} : { method: 'POST', body };
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie }, ...posting });
    for (const one of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = one.split(';')[0]?.split('=', 2) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    body = location === null ? new URLSearchParams(form) : undefined;
    if (location !== null) next = new URL(location, next);
    if (next.origin !== origin) return next;
  }
  throw new Error('the provider does not send the browser back');
}
