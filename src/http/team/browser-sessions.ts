import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, Hono } from 'hono';
import * as z from 'zod';
import type { BrowserSignIn, Sealer, SignedInPerson } from '../../app/ports/browser-sign-in.ts';
import type { Clock } from '../../app/ports/system-services.ts';
import type { EndedSessions, TeamDatabase } from '../../app/ports/team-database.ts';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import { FRESH_MS } from '../../core/wire/team-paths.ts';
import { cookiesIn } from '../console/console-guard.ts';

/** Somebody whose browser is signed in. */
export type BrowserSession = SignedInPerson & {
  /** Sent by the page with every request; a page of another site cannot learn it. */
  readonly key: string;
};

export type Browsers = {
  readonly publicUrl: URL;
  /** Absent where the operator named no client of the identity provider. */
  readonly signIn: BrowserSignIn | undefined;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly endedSessions: EndedSessions;
  readonly groupsWithRole: TeamDatabase['groupsWithRole'];
};

/** Where the identity provider sends browsers back to, whichever space they want to see. */
export const CALLBACK_PATH = '/auth/callback';

const HOUR_MS = 3_600_000;
const SESSION_MS = 8 * HOUR_MS;
const ATTEMPT_MS = 600_000;
const KEY_BYTES = 32;

const sessionSchema = z.strictObject({
  principal: z.string(),
  name: z.string().exactOptional(),
  groups: z.array(z.string()).readonly().exactOptional(),
  provedAt: z.number(),
  key: z.string(),
});
const attemptSchema = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  space: z.string(),
  to: z.string(),
});

/** A browser refuses a name that begins with `__Host-` unless the cookie is secure and for this host alone. */
function cookieNamed(name: string, { protocol, port }: URL): string {
  return protocol === 'https:' ? `__Host-workrail-${name}` : `workrail-${name}-${port}`;
}

type CookieWish = { readonly value: string; readonly sameSite: 'Strict' | 'Lax'; readonly seconds: number };

function cookieText(name: string, publicUrl: URL, { value, sameSite, seconds }: CookieWish): string {
  const secure = publicUrl.protocol === 'https:' ? '; Secure' : '';
  const named = cookieNamed(name, publicUrl);
  return `${named}=${value}; HttpOnly; SameSite=${sameSite}; Path=/; Max-Age=${seconds}${secure}`;
}

/** The session of the browser that asks; `undefined` if it has none that counts. */
export async function browserSessionOf(
  cookies: string | undefined,
  { publicUrl, sealer, clock }: Browsers,
): Promise<BrowserSession | undefined> {
  for (const sealed of cookiesIn(cookies, cookieNamed('session', publicUrl))) {
    const opened = sessionSchema.safeParse(await sealer.open('browser session', sealed, clock.nowMs()));
    if (opened.success) return opened.data;
  }
  return undefined;
}

/** Whether the page that asks is ours: only it has the key. */
export function hasKey({ key }: BrowserSession, sent: string | undefined): boolean {
  const [wanted, given] = [Buffer.from(key), Buffer.from(sent ?? '')];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

/** Until when the person may decide without proving again who they are. */
export function freshUntil({ provedAt }: Pick<SignedInPerson, 'provedAt'>): number {
  return provedAt + FRESH_MS;
}

/** Ends a session everywhere, also for somebody who has a copy of its cookie. */
export function endSession({ key }: BrowserSession, { clock, endedSessions }: Browsers) {
  const now = clock.nowMs();
  return endedSessions.end(keyDigest(key), { now, endsAt: now + SESSION_MS });
}

/** Whether somebody signed out of the session. */
export function isSignedOut({ key }: BrowserSession, { endedSessions }: Browsers) {
  return endedSessions.has(keyDigest(key));
}

function keyDigest(key: string): Sha256Digest {
  return `sha256:${createHash('sha256').update(key).digest('hex')}` as Sha256Digest;
}

export function endedSession(publicUrl: URL): string {
  return cookieText('session', publicUrl, { value: '', sameSite: 'Strict', seconds: 0 });
}

/**
 * Sends browsers to the identity provider, and takes them back. The page itself is public and asks for its session by a
 * request of its own, so the cookie of a session need never travel with a link of another site.
 */
export function signInRoutes(
  app: Hono,
  browsers: Browsers,
  onSignedIn: (space: string, person: SignedInPerson) => Promise<void>,
): void {
  const { publicUrl, signIn, sealer, clock, groupsWithRole } = browsers;
  app.get('/s/:space/sign-in', async (context) => {
    const space = context.req.param('space');
    const { to = '/', again } = context.req.query();
    const begun = await signIn?.begin({ isAgain: again === '1' });
    if (begun === undefined) return back(context, placeIn(publicUrl, space, '/'), 'none');
    if (begun.isErr()) return back(context, placeIn(publicUrl, space, to), 'unreachable');
    const now = clock.nowMs();
    const attempt = { ...begun.value.attempt, space, to } satisfies z.output<typeof attemptSchema>;
    const sealed = await sealer.seal('sign-in attempt', attempt, { now, endsAt: now + ATTEMPT_MS });
    // The browser comes back from another site, and a strict cookie would stay behind.
    const cookie = cookieText('attempt', publicUrl, { value: sealed, sameSite: 'Lax', seconds: ATTEMPT_MS / 1_000 });
    context.header('set-cookie', cookie);
    return context.redirect(begun.value.address, 303);
  });
  app.get(CALLBACK_PATH, async (context) => {
    const [sealed = ''] = cookiesIn(context.req.header('cookie'), cookieNamed('attempt', publicUrl));
    const opened = attemptSchema.safeParse(await sealer.open('sign-in attempt', sealed, clock.nowMs()));
    if (!opened.success || signIn === undefined) return context.text(NO_ATTEMPT, 400);
    const { space, to, ...attempt } = opened.data;
    context.header('set-cookie', cookieText('attempt', publicUrl, { value: '', sameSite: 'Lax', seconds: 0 }));
    const place = placeIn(publicUrl, space, to);
    const person = await signIn.finish(new URL(context.req.url).search, attempt);
    if (person.isErr())
      return back(context, place, person.error.code === 'sign_in_refused' ? 'refused' : 'unreachable');
    const now = clock.nowMs();
    const groups = await keptGroups(person.value, groupsWithRole);
    const signedIn = { ...person.value, groups, provedAt: Math.min(person.value.provedAt, now) };
    const session: BrowserSession = { ...signedIn, key: randomBytes(KEY_BYTES).toString('base64url') };
    const cookie = await sealer.seal('browser session', session, { now, endsAt: now + SESSION_MS });
    const kept = { value: cookie, sameSite: 'Strict', seconds: SESSION_MS / 1_000 } as const;
    context.header('set-cookie', cookieText('session', publicUrl, kept), { append: true });
    await onSignedIn(space, signedIn);
    return context.redirect(place.href, 303);
  });
}

/** A browser keeps no cookie above 4 kB. */
const GROUPS_LENGTH_MAX = 2_000;

/** The groups that have a role anywhere: people can be in hundreds of others. A role that is left out is only missing. */
async function keptGroups(
  { groups = [] }: SignedInPerson,
  groupsWithRole: Browsers['groupsWithRole'],
): Promise<readonly string[]> {
  const known = groups.length === 0 ? [] : (await groupsWithRole(groups)).unwrapOr(groups);
  let length = 0;
  return known.filter((group) => {
    length += group.length;
    return length <= GROUPS_LENGTH_MAX;
  });
}

const NO_ATTEMPT = 'This sign-in was not begun in this browser, or took too long. Open the console and sign in again.';

/** A page of a space. What leads out of the space leads to its first page. */
function placeIn(publicUrl: URL, space: string, path: string): URL {
  const base = `/s/${encodeURIComponent(space)}/`;
  const asked = new URL(`${base}${path.replace(/^\/+/, '')}`, publicUrl);
  return asked.pathname.startsWith(base) ? asked : new URL(base, publicUrl);
}

/** The page says why in its own words. */
function back(context: Context, place: URL, why: 'none' | 'refused' | 'unreachable'): Response {
  place.searchParams.set('sign-in', why);
  return context.redirect(place.href, 303);
}
