import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { err, ok, type Result } from 'neverthrow';
import {
  type AccessRefusal,
  authenticate,
  type Entrance,
  type SpaceCaller,
  signInSubject,
} from '../../app/team/access.ts';
import { includesRole } from '../../core/wire/team-paths.ts';
import { assetResponse } from '../console/console-app.ts';
import { type ListenRefusal, listen, TIME_LIMITS } from '../local-requests.ts';
import { signInRoutes } from './browser-sessions.ts';
import { AGENT_RATES, callerLimits } from './caller-limits.ts';
import { type CiRequest, ciRoutes } from './ci-routes.ts';
import { type TeamConsole, teamConsole } from './team-console.ts';
import type { TeamMetrics } from './team-metrics.ts';

/** An address to listen at. */
export type Address = { readonly host: string; readonly port: number };

export type TeamRequest = {
  readonly publicUrl: URL;
  readonly listen: Address;
  /** Health and metrics, for the operator only. */
  readonly admin: Address;
  readonly entrance: Entrance;
  /** Answers MCP in a space; `undefined` for one that does not exist. */
  readonly mcp: (
    space: string,
    request: Request,
    caller: { readonly principal: string; readonly isReader: boolean },
  ) => Promise<Response | undefined>;
  /** Whether the database answers and has the schema of this program; otherwise why not. */
  readonly readiness: () => Promise<Result<void, string>>;
  readonly metrics: TeamMetrics;
  readonly console: TeamConsole;
  readonly ci: CiRequest;
};

export type TeamServer = {
  readonly url: string;
  readonly adminUrl: string;
  /** Says that it is not ready; load balancers then send nobody here. */
  readonly drain: () => void;
  readonly stop: () => Promise<void>;
};

/** Serves the spaces of a team. It keeps nothing between requests, so any replica can answer any of them. */
export async function serveSpaces(request: TeamRequest): Promise<Result<TeamServer, ListenRefusal>> {
  let isDraining = false;
  const spaces = createAdaptorServer({ fetch: teamApp(request).fetch, serverOptions: TIME_LIMITS });
  const operator = createAdaptorServer({
    fetch: adminApp(request, () => isDraining).fetch,
    serverOptions: TIME_LIMITS,
  });
  const listening = await listen(spaces, request.listen.port, request.listen.host);
  if (listening.isErr()) return err(listening.error);
  const admin = await listen(operator, request.admin.port, request.admin.host);
  if (admin.isErr()) {
    await listening.value.stop();
    return err(admin.error);
  }
  return ok({
    url: listening.value.url,
    adminUrl: admin.value.url,
    drain: () => {
      isDraining = true;
    },
    stop: async () => {
      await Promise.all([listening.value.stop(), admin.value.stop()]);
    },
  });
}

const SCOPES = ['workrail:read', 'workrail:agent'];

function teamApp(request: TeamRequest): Hono {
  const { publicUrl, entrance, mcp, metrics } = request;
  const limits = callerLimits(AGENT_RATES);
  const app = new Hono();
  app.use('*', async (context, next) => {
    const { host, origin } = context.req.header();
    // A page of another site can make a browser call this server, but it cannot hide where it comes from.
    const isOwn = host === publicUrl.host && (origin === undefined || origin === publicUrl.origin);
    if (!isOwn) return context.json(problem(`Host and Origin must be those of ${publicUrl.origin}.`), 403);
    return next();
  });
  app.get('/.well-known/oauth-protected-resource/s/:space/mcp', (context) =>
    context.json({
      resource: resourceOf(publicUrl, context.req.param('space')),
      ...(entrance.identity === undefined ? {} : { authorization_servers: [entrance.identity.issuer] }),
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'WorkRail',
    }),
  );
  app.all('/s/:space/mcp', async (context) => {
    const space = context.req.param('space');
    const caller = await callerOf(context, entrance, space);
    if (caller.isErr()) {
      metrics.refused(caller.error.code);
      return refusedResponse(context, caller.error, metadataOf(publicUrl, space));
    }
    const { principal, role } = caller.value;
    const isReader = !includesRole(role, 'agent');
    const answer = await limits.within(`${space}\n${principal}`, () =>
      mcp(space, context.req.raw, { principal, isReader }),
    );
    if (answer.isErr()) {
      metrics.refused('too_many_calls');
      const message =
        'You send more calls than this server takes from one caller. Wait, then send the same call again.';
      return context.json(problem(message), 429, { 'retry-after': String(answer.error.retryAfterS) });
    }
    return answer.value ?? context.json(problem('This space is gone.'), 404);
  });
  signInRoutes(app, request.console, async (space, { principal, groups = [] }) => {
    const opened = await request.console.access(space);
    const given = opened.isOk() ? (await opened.value.roleOf({ principal, groups })).unwrapOr(undefined) : undefined;
    const made = { by: principal, at: request.console.clock.nowMs() };
    // Somebody without a role leaves no trace in a space that may not be theirs.
    if (opened.isOk() && given !== undefined)
      await opened.value.note('signed_in', signInSubject(principal, given), made);
  });
  ciRoutes(app, request.ci, metrics);
  app.get('/assets/:name', (context) => {
    context.header('x-content-type-options', 'nosniff');
    return assetResponse(context, request.console.assets);
  });
  app.get('/s/:space', (context) => context.redirect(`/s/${encodeURIComponent(context.req.param('space'))}/`, 302));
  app.route('/', teamConsole(request.console, metrics));
  app.notFound((context) => context.json(problem('Not found. MCP is at /s/SPACE/mcp, the console at /s/SPACE/.'), 404));
  return app;
}

const BEARER = /^Bearer +(\S+)$/i;

async function callerOf(
  context: Context,
  entrance: Entrance,
  space: string,
): Promise<Result<SpaceCaller, AccessRefusal | { readonly code: 'credential_missing' }>> {
  const [, credential] = BEARER.exec(context.req.header('authorization') ?? '') ?? [];
  if (credential === undefined) return err({ code: 'credential_missing' });
  return authenticate(entrance, space, credential);
}

type HttpRefusal = { readonly status: 401 | 403 | 503; readonly error?: string; readonly message: string };

const AWAY: HttpRefusal = {
  status: 503,
  message: 'The database does not answer. Send the same request again in two seconds.',
};
const NOT_READY: HttpRefusal = {
  status: 503,
  message: 'The database does not have the tables of this program. The operator runs: workrail migrate',
};

function httpRefusal(refusal: AccessRefusal | { readonly code: 'credential_missing' }): HttpRefusal {
  switch (refusal.code) {
    case 'credential_missing':
      return {
        status: 401,
        message:
          'Sign in: send an access token of your identity provider, or a token that an admin made with "workrail token create".',
      };
    case 'credential_invalid':
      return {
        status: 401,
        error: 'invalid_token',
        message: 'The token is not valid for this space: it expired, was revoked, or was issued for something else.',
      };
    case 'not_a_member':
      return {
        status: 403,
        error: 'insufficient_scope',
        message: `${refusal.principal} has no role in this space, or the token lacks the scope workrail:read. Ask an admin of the space.`,
      };
    case 'identity_unreachable':
      return {
        status: 503,
        message: 'The identity provider does not answer. Send the same request again in a moment.',
      };
    case 'schema_newer':
    case 'schema_differs':
    case 'not_migrated':
      return NOT_READY;
    default:
      return AWAY;
  }
}

function refusedResponse(
  context: Context,
  refusal: AccessRefusal | { readonly code: 'credential_missing' },
  metadata: string,
): Response {
  const { status, error, message } = httpRefusal(refusal);
  const challenge = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `resource_metadata="${metadata}"`,
    `scope="${SCOPES.join(' ')}"`,
  ].join(', ');
  const headers: Record<string, string> =
    status === 503 ? { 'retry-after': '2' } : { 'www-authenticate': `Bearer ${challenge}` };
  return context.json(problem(message), status, headers);
}

/** The address that tokens of the identity provider are issued for. */
export function resourceOf(publicUrl: URL, space: string): string {
  return new URL(`/s/${encodeURIComponent(space)}/mcp`, publicUrl).href;
}

function metadataOf(publicUrl: URL, space: string): string {
  return new URL(`/.well-known/oauth-protected-resource/s/${encodeURIComponent(space)}/mcp`, publicUrl).href;
}

function adminApp({ readiness, metrics }: TeamRequest, isDraining: () => boolean): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('alive\n'));
  app.get('/readyz', async (context) => {
    if (isDraining()) return context.text('stopping\n', 503);
    const ready = await readiness();
    return ready.isOk() ? context.text('ready\n') : context.text(`not ready: ${ready.error}\n`, 503);
  });
  app.get('/metrics', async (context) =>
    context.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
  return app;
}

/** A JSON-RPC error, which is what an MCP client understands. */
function problem(message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
}
