import { createHash } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { err, ok, type Result } from 'neverthrow';
import type { ConsoleAssets, StoreFeed } from '../../app/ports/console.ts';
import type { NotedAction, SpaceAccess, SpaceRefusal } from '../../app/ports/team-database.ts';
import type { ExchangeServices } from '../../app/sessions/console-exchange.ts';
import { type AccessPages, type AdminCaller, accessPages, type TeamSpaces } from '../../app/team/access-pages.ts';
import { shortList } from '../../core/text/words.ts';
import type { CommandPath } from '../../core/wire/command-shapes.ts';
import { CONSOLE_PATHS, type ConsolePath, PAGE_KEY_HEADER } from '../../core/wire/console-paths.ts';
import { CONSOLE_INPUTS, type ConsoleReply } from '../../core/wire/console-shapes.ts';
import type { EDITOR_INPUTS } from '../../core/wire/editor-shapes.ts';
import { includesRole, type Role, TEAM_PATHS, type TeamPath } from '../../core/wire/team-paths.ts';
import { TEAM_INPUTS } from '../../core/wire/team-shapes.ts';
import { decisionHandlers, type Receipts } from '../console/approval-routes.ts';
import { consoleApp, eventsResponse } from '../console/console-app.ts';
import { type GuardedRequest, type GuardRefusal, guardProblem, isJsonType } from '../console/console-guard.ts';
import { body, exchangeHandlers, type Handler, invalidRequest, reply } from '../console/exchange-routes.ts';
import { runHandlers } from '../console/run-routes.ts';
import {
  type BrowserSession,
  type Browsers,
  browserSessionOf,
  endedSession,
  endSession,
  freshUntil,
  hasKey,
  isSignedOut,
} from './browser-sessions.ts';
import { callerLimits, openListeners, PERSON_RATES } from './caller-limits.ts';
import type { TeamMetrics } from './team-metrics.ts';

/** Somebody who signed in and has a role in the space that they look at. */
export type ConsoleCaller = Omit<BrowserSession, 'key'> & {
  readonly space: string;
  readonly role: Role;
  /** The group that the role comes from. */
  readonly through?: string;
  /** Whether they proved who they are a short while ago. */
  readonly isFresh: boolean;
};

/** What the pages of one space are made from, for one person. */
export type SpaceConsole = { readonly services: ExchangeServices; readonly feed: StoreFeed };

export type TeamConsole = Browsers & {
  readonly version: string;
  readonly assets: ConsoleAssets;
  readonly access: (space: string) => Promise<Result<SpaceAccess, SpaceRefusal>>;
  readonly consoleOf: (caller: ConsoleCaller) => Promise<Result<SpaceConsole, SpaceRefusal>>;
  readonly spacesOf: TeamSpaces['spacesOf'];
  readonly admin: AdminCaller['tools'];
};

/** All requests but those about one machine: its clients, settings, files and keys. */
type Offered = Exclude<
  ConsolePath,
  | CommandPath
  | keyof typeof EDITOR_INPUTS
  | 'newWorkflow'
  | 'import'
  | 'clients'
  | 'approvers'
  | 'addPasskey'
  | 'challenge'
>;

/** What each request needs at least. A decision also needs that the person proved who they are a short while ago. */
const NEEDED: { readonly [name in Offered | TeamPath]: Role | 'decide' | 'administer' } = {
  signIn: 'reader',
  about: 'reader',
  sessions: 'reader',
  session: 'reader',
  run: 'reader',
  notes: 'reader',
  drift: 'reader',
  step: 'reader',
  prompt: 'reader',
  raw: 'reader',
  resume: 'reader',
  report: 'reader',
  timeline: 'reader',
  signatures: 'reader',
  compare: 'reader',
  search: 'reader',
  waiting: 'reader',
  events: 'reader',
  signOut: 'reader',
  mark: 'agent',
  prefer: 'decide',
  answer: 'decide',
  spaces: 'reader',
  members: 'admin',
  tokens: 'admin',
  audit: 'admin',
  spaceSources: 'admin',
  acceptSpaceSource: 'administer',
  removeSpaceSource: 'administer',
  setMember: 'administer',
  removeMember: 'administer',
  setSpace: 'administer',
  createToken: 'administer',
  revokeToken: 'administer',
};

const PATHS = Object.fromEntries(
  Object.entries({ ...CONSOLE_PATHS, ...TEAM_PATHS }).filter(([name]) => Object.hasOwn(NEEDED, name)),
);

/** The console of each space, for people whose browser is signed in. A credential of an agent opens nothing here. */
export function teamConsole(request: TeamConsole, metrics: Pick<TeamMetrics, 'refused'>): Hono<never> {
  const limits = callerLimits(PERSON_RATES);
  const listeners = openListeners();
  const callers = new WeakMap<Context, { readonly caller: ConsoleCaller; readonly session: BrowserSession }>();
  return consoleApp({
    base: '/s/:space',
    assets: request.assets,
    paths: PATHS,
    guard: async (asked, context) => {
      const foreign = requestRefusal(asked);
      if (foreign !== undefined || !asked.path.startsWith('/api/')) return foreign;
      const session = await browserSessionOf(asked.header('cookie'), request);
      if (session === undefined) return NOT_SIGNED_IN;
      if (asked.path !== CONSOLE_PATHS.signIn[1] && !hasKey(session, asked.header(PAGE_KEY_HEADER))) return FOREIGN;
      const caller = await callerOf(request, context.req.param('space') ?? '', session);
      if (caller.isErr()) return caller.error;
      callers.set(context, { caller: caller.value, session });
      return undefined;
    },
    handle: async (name, context) => {
      const known = callers.get(context);
      if (known === undefined) return invalidRequest(context);
      const { caller, session } = known;
      const answer = await limits.within(`${caller.space}\n${caller.principal}`, async () => {
        const refused = roleRefusal(NEEDED[name as Offered], caller);
        if (refused !== undefined) {
          // Looking is not worth an entry, and anybody could fill the log with it.
          if (context.req.method === 'POST') await noteRefusal(request, caller, name);
          return context.json({ error: refused.error }, refused.status);
        }
        const opened = await request.consoleOf(caller);
        if (opened.isErr()) return context.json({ error: AWAY.error }, AWAY.status);
        const { services, feed } = opened.value;
        const counted = listeners.counted(caller.principal, feed);
        if (name === 'events' && counted === undefined) return context.json({ error: BUSY.error }, BUSY.status);
        return handlers(request, { caller, session, services, feed: counted ?? feed })[name as Offered](context);
      });
      if (answer.isOk()) return answer.value;
      metrics.refused('too_many_calls');
      return context.json({ error: BUSY.error }, BUSY.status, { 'retry-after': String(answer.error.retryAfterS) });
    },
  }) as unknown as Hono<never>;
}

/** What is wrong with a request before it is known who makes it. */
function requestRefusal({ method, path, header }: GuardedRequest): GuardRefusal | undefined {
  if (!path.startsWith('/api/')) return method === 'GET' || method === 'HEAD' ? undefined : FOREIGN;
  // What an agent holds never counts as a person, whatever else the request brings along.
  if (header('authorization') !== undefined) return NO_PERSON;
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return FOREIGN;
  return method !== 'GET' && !isJsonType(header('content-type')) ? NOT_JSON : undefined;
}

async function callerOf(
  request: TeamConsole,
  space: string,
  session: BrowserSession,
): Promise<Result<ConsoleCaller, GuardRefusal>> {
  const { access, clock } = request;
  const { key: _, ...person } = session;
  const ended = await isSignedOut(session, request);
  if (ended.isErr()) return err(AWAY);
  if (ended.value) return err(NOT_SIGNED_IN);
  const opened = await access(space);
  const isUnknown = opened.isErr() && opened.error.code === 'space_unknown';
  if (opened.isErr() && !isUnknown) return err(AWAY);
  const { principal, groups = [] } = person;
  const given = opened.isOk() ? await opened.value.roleOf({ principal, groups }) : ok(undefined);
  if (given.isErr()) return err(AWAY);
  if (given.value === undefined) return err(notAMember(principal));
  return ok({ ...person, space, ...given.value, isFresh: clock.nowMs() <= freshUntil(person) });
}

function roleRefusal(needed: Role | 'decide' | 'administer', { role, isFresh }: ConsoleCaller) {
  const least = needed === 'decide' ? 'approver' : needed === 'administer' ? 'admin' : needed;
  if (!includesRole(role, least)) return roleNeeded(least, role);
  return least === needed || isFresh ? undefined : PROVE_AGAIN;
}

async function noteRefusal({ access, clock }: TeamConsole, { space, principal }: ConsoleCaller, name: string) {
  const opened = await access(space);
  if (opened.isOk()) await opened.value.note('decision_refused', name, { by: principal, at: clock.nowMs() });
}

type Asking = SpaceConsole & { readonly caller: ConsoleCaller; readonly session: BrowserSession };

function handlers(
  request: TeamConsole,
  { caller, session, services, feed }: Asking,
): { readonly [name in Offered | TeamPath]: Handler } {
  const { space, principal, name, role } = caller;
  const about: ConsoleReply<'about'> = {
    version: request.version,
    dataDir: `${request.publicUrl.host}/s/${space}`,
    command: 'workrail',
    isAtTerminal: services.mayDecide,
    team: { space, principal, ...(name === undefined ? {} : { name }), role, freshUntil: freshUntil(caller) },
  };
  const receipts = sealedReceipts(request, principal);
  const { import: _, ...exchange } = exchangeHandlers(services);
  return {
    signIn: (context) => context.json({ key: session.key }),
    about: (context) => context.json(about),
    ...runHandlers(services),
    ...exchange,
    mark: async (context) => {
      const sent = CONSOLE_INPUTS.mark.safeParse(await body(context));
      const isRemoval = sent.success && ['deleted', 'restored'].includes(sent.data.mark);
      const refused = isRemoval ? roleRefusal('administer', caller) : undefined;
      if (refused !== undefined) return context.json({ error: refused.error }, refused.status);
      const marked = await exchange.mark(context);
      if (!isRemoval || !marked.ok) return marked;
      const action = sent.data.mark === 'deleted' ? 'session_deleted' : 'session_restored';
      return (await noted(request, caller, [action, context.req.param('session') ?? ''])) ? marked : away(context);
    },
    // Whatever is read can be copied by hand, so this only shows who used the way that is meant for it.
    report: async (context) => {
      const document = await exchange.report(context);
      if (!document.ok) return document;
      const { also, as = '' } = context.req.query();
      const ids = [context.req.param('session') ?? '', ...(also?.split(',') ?? [])];
      return (await noted(request, caller, ['session_exported', `${shortList(ids, IDS_NAMED_MAX)} (${as})`]))
        ? document
        : away(context);
    },
    ...decisionHandlers(services, { receipts }),
    events: (context) =>
      eventsResponse(context, feed, {
        launch: services.answerIds.launch,
        isOver: async () => {
          const still = await browserSessionOf(context.req.header('cookie'), request);
          const now = still === undefined ? err(NOT_SIGNED_IN) : await callerOf(request, space, still);
          // While the database does not answer, nothing changes that could be shown.
          return now.isErr() && now.error !== AWAY;
        },
      }),
    ...adminHandlers(request, caller),
    signOut: async (context) => {
      const ended = await endSession(session, request);
      if (ended.isErr()) return context.json({ error: AWAY.error }, AWAY.status);
      const opened = await request.access(space);
      if (opened.isOk()) await opened.value.note('signed_out', principal, { by: principal, at: request.clock.nowMs() });
      return context.json({}, 200, { 'set-cookie': endedSession(request.publicUrl) });
    },
  };
}

/** How many sessions an entry of the audit log names. */
const IDS_NAMED_MAX = 20;

/** Records what somebody did; false if the database does not answer. */
async function noted(
  { access, clock }: TeamConsole,
  { space, principal }: ConsoleCaller,
  [action, subject]: readonly [action: NotedAction, subject: string],
): Promise<boolean> {
  const opened = await access(space);
  return opened.isOk() && (await opened.value.note(action, subject, { by: principal, at: clock.nowMs() })).isOk();
}

function away(context: Context): Response {
  return context.json({ error: AWAY.error }, AWAY.status);
}

/** Only the digest of what was shown is sealed, so that a long comment makes no long receipt. */
function sealedReceipts({ sealer, clock }: TeamConsole, principal: string): Receipts {
  const digest = (what: string) => createHash('sha256').update(what).digest('base64url');
  return {
    give: async (what) => {
      const now = clock.nowMs();
      return sealer.seal('receipt', { principal, what: digest(what), at: now }, { now, endsAt: now + RECEIPT_MS });
    },
    givenAt: async (what, receipt) => {
      const opened = receipt === undefined ? undefined : await sealer.open('receipt', receipt, clock.nowMs());
      const given = opened as { readonly principal: string; readonly what: string; readonly at: number } | undefined;
      return given?.principal === principal && given.what === digest(what) ? given.at : undefined;
    },
  };
}

const RECEIPT_MS = 28_800_000;

type AdminPath = Exclude<TeamPath, 'signOut'>;

function adminHandlers(
  { access, spacesOf, admin }: TeamConsole,
  { space, principal, groups = [], through }: ConsoleCaller,
): { readonly [name in AdminPath]: Handler } {
  const handler =
    (path: AdminPath): Handler =>
    async (context) => {
      const opened = await access(space);
      if (opened.isErr()) return context.json({ error: AWAY.error }, AWAY.status);
      const inputs: { readonly [name in AdminPath]?: (typeof TEAM_INPUTS)[keyof typeof TEAM_INPUTS] } = TEAM_INPUTS;
      const sent = inputs[path]?.safeParse(await body(context));
      if (sent?.success === false) return invalidRequest(context);
      const pages: AccessPages = accessPages({
        ...{ access: opened.value, person: { principal, groups }, through, space, tools: admin },
        spaces: { access, spacesOf },
      });
      return reply(context, await pages[path](sent?.data as never));
    };
  const paths = Object.keys(TEAM_PATHS).filter((path) => path !== 'signOut') as AdminPath[];
  return Object.fromEntries(paths.map((path) => [path, handler(path)])) as { [name in AdminPath]: Handler };
}

const SIGN_IN = 'Sign in.';
const NOT_SIGNED_IN = guardProblem(401, 'This browser is not signed in, or its sign-in is over.', SIGN_IN);
const FOREIGN = guardProblem(403, 'Only the page of this console may make this request.', 'Open the console.');
const NO_PERSON = guardProblem(
  403,
  'The token of an agent opens nothing here: only a person who is signed in in a browser may look and decide.',
  'Tell the user to open the console of the space in a browser.',
);
const NOT_JSON = guardProblem(415, 'The body must be JSON.', 'Send it with "Content-Type: application/json".');
const AWAY = guardProblem(503, 'The database does not answer.', 'Wait two seconds, then try it again.');
const BUSY = guardProblem(
  429,
  'Your pages ask more often than this server answers one person.',
  'Close some of them, or wait a second.',
);
const PROVE_AGAIN = guardProblem(
  403,
  'You signed in more than 15 minutes ago, and this decides something. Nothing was recorded.',
  'Sign in again, then decide.',
);

function notAMember(principal: string): GuardRefusal {
  return guardProblem(
    403,
    `${principal} has no role in this space.`,
    `Ask an admin of the space: workrail member set "${principal}" reader --space SPACE`,
  );
}

function roleNeeded(needed: Role, role: Role): GuardRefusal {
  return guardProblem(
    403,
    `This needs the role ${needed}, and you are ${role} here. Nothing was recorded.`,
    'Ask an admin of the space.',
  );
}
