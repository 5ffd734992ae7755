import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { err, ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { masterKeySealer } from '../../src/adapters/identity/identity-provider.ts';
import type { Identity, IdentityProvider, Person, SpaceAccess, TrustedCi } from '../../src/app/ports/team-database.ts';
import { ciJob } from '../../src/app/team/ci-evidence.ts';
import { PAGE_KEY_HEADER } from '../../src/core/wire/console-paths.ts';
import { ROLES, type Role } from '../../src/core/wire/team-paths.ts';
import { TEAM_INPUTS } from '../../src/core/wire/team-shapes.ts';
import type { BrowserSession } from '../../src/http/team/browser-sessions.ts';
import { type SpaceConsole, teamConsole } from '../../src/http/team/team-console.ts';
import { enforces } from '../enforces.ts';
import { memoryServices } from '../examples/memory-services.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const sealer = masterKeySealer(randomBytes(32));
const answer = '/s/shop/api/sessions/sess_1/gates/node_1/answer';

/** A console whose spaces nobody can open: a request that gets as far as that was let in. */
function consoleFor(
  roles: { readonly [principal: string]: Role },
  consoleOf: Parameters<typeof teamConsole>[0]['consoleOf'] = async () => err({ code: 'not_migrated', missing: 1 }),
): Hono {
  const access = {
    roleOf: async ({ principal }: Person) => {
      const role = roles[principal];
      return ok(role && { role });
    },
    note: async () => ok(undefined),
  } as unknown as SpaceAccess;
  const app = teamConsole(
    {
      publicUrl: new URL('http://localhost:8080'),
      signIn: undefined,
      sealer,
      clock: { nowMs: () => NOW },
      endedSessions: { end: async () => ok(undefined), has: async () => ok(false) },
      spacesOf: async () => ok([]),
      groupsWithRole: async () => ok([]),
      version: '1',
      assets: { file: async () => undefined, page: async () => '<title>Page</title>' },
      access: async () => ok(access),
      consoleOf,
      admin: {
        clock: { nowMs: () => NOW },
        sha256: () => expect.fail('nothing is made'),
        random: () => randomBytes(32),
      },
    },
    { refused: () => undefined },
  );
  return new Hono().route('/', app);
}

async function cookieOf(
  session: Partial<BrowserSession>,
  { purpose = 'browser session', endsAt = NOW + HOUR_MS } = {},
) {
  const whole = { principal: 'ann', provedAt: NOW, key: 'the-key', ...session };
  return `workrail-session-8080=${await sealer.seal(purpose, whole, { now: NOW - HOUR_MS, endsAt })}`;
}

const LET_IN = 503;

it('only a fresh browser session of an approver, with the key of its page, gets as far as a decision', async () => {
  enforces('team_person_decides');
  const json = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const page = { ...json, [PAGE_KEY_HEADER]: 'the-key' };
  const cookie = await cookieOf({});
  const minute = 60_000;
  const table: readonly (readonly [status: number, what: string, headers: Record<string, string>])[] = [
    [LET_IN, 'the page of an approver', { ...page, cookie }],
    [LET_IN, '15 minutes later', { ...page, cookie: await cookieOf({ provedAt: NOW - 15 * minute }) }],
    [403, '16 minutes later', { ...page, cookie: await cookieOf({ provedAt: NOW - 16 * minute }) }],
    [403, 'a provider that does not say when', { ...page, cookie: await cookieOf({ provedAt: 0 }) }],
    [403, 'a token of an agent', { ...json, authorization: 'Bearer wrp_x' }],
    [403, 'a token beside a session', { ...page, cookie, authorization: 'Bearer wrp_x' }],
    [403, 'no key', { ...json, cookie }],
    [403, 'another key', { ...page, cookie, [PAGE_KEY_HEADER]: 'the-kez' }],
    [403, 'a page of another site', { ...page, cookie, 'sec-fetch-site': 'same-site' }],
    [403, 'somebody without a role', { ...page, cookie: await cookieOf({ principal: 'zoe' }) }],
    [415, 'a form', { ...page, cookie, 'content-type': 'text/plain' }],
    [401, 'nothing', json],
    [401, 'a session that is over', { ...page, cookie: await cookieOf({}, { endsAt: NOW - minute }) }],
    [401, 'something else that was sealed', { ...page, cookie: await cookieOf({}, { purpose: 'receipt' }) }],
    [401, 'a changed session', { ...page, cookie: `${cookie.slice(0, -4)}AAAA` }],
  ];
  for (const [status, what, headers] of table) {
    const got = await consoleFor({ ann: 'approver' }).request(answer, { method: 'POST', headers, body: '{}' });
    expect([what, got.status]).toEqual([what, status]);
  }
  for (const role of ROLES) {
    const got = await consoleFor({ ann: role }).request(answer, { method: 'POST', headers: { ...page, cookie } });
    expect([role, got.status]).toEqual([role, role === 'reader' || role === 'agent' ? 403 : LET_IN]);
  }
  const shown = await consoleFor({}).request('/s/shop/waiting');
  expect([shown.status, await shown.text()]).toEqual([200, '<title>Page</title>']);
});

it('a person whose pages ask too often, or listen too often, is asked to wait, and others are not', async () => {
  const headers = { [PAGE_KEY_HEADER]: 'the-key', cookie: await cookieOf({}) };
  const zoe = { ...headers, cookie: await cookieOf({ principal: 'zoe' }) };
  const opened = { services: memoryServices(), feed: { watch: () => () => undefined } } as unknown as SpaceConsole;
  const app = consoleFor({ ann: 'reader', zoe: 'reader' }, async () => ok(opened));
  const ask = async (path: string, of = headers) => app.request(`/s/shop/api/${path}`, { headers: of });
  const listening = await Promise.all(Array.from({ length: 20 }, () => ask('events')));
  const more = await Promise.all(Array.from({ length: 10 }, () => ask('events')));
  expect([...listening, ...more].map(({ status }) => status)).toEqual([
    ...Array<number>(24).fill(200),
    ...Array<number>(6).fill(429),
  ]);
  await listening[0]?.body?.cancel();
  const again = await ask('events');
  expect(again.status).toBe(200);
  const asked = await Promise.all(Array.from({ length: 100 }, () => ask('about')));
  const refused = asked.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(50);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect((await ask('about', zoe)).status).toBe(200);
  await Promise.all([...listening.slice(1), ...more, again].map(({ body }) => body?.cancel()));
});

const AWAY: TrustedCi = { issuer: 'https://away', host: 'away.example', repositories: ['*'], ref: '*' };

it('a job of CI is known by an issuer that the space trusts, with its repository, ref and commit', async () => {
  enforces('ci_evidence_is_of_its_job');
  const job = { repository: 'acme/shop', ref: 'refs/heads/main', sha: 'abc' };
  const jobOf = (trusted: readonly TrustedCi[], said: Identity['job'] = job) => {
    const access = { ci: async () => ok(trusted) } as unknown as SpaceAccess;
    const identity = { principal: 'ci|job', groups: [], scopes: [], expiresAt: NOW, job: said };
    const providerOf = (issuer: string): IdentityProvider => ({
      issuer,
      identify: async (token, [audience]) =>
        issuer === AWAY.issuer
          ? err({ code: 'identity_unreachable', cause: 'it is down' })
          : ok(token === `${issuer} for ${audience}` ? identity : undefined),
    });
    return ciJob(access, 'https://ci for https://rail', { providerOf, audiences: ['https://rail'] });
  };
  const ci = { issuer: 'https://ci', host: 'git.example', repositories: ['Acme/shop'], ref: 'refs/heads/main' };
  expect(await jobOf([{ ...ci, issuer: 'https://other' }, ci])).toEqual(
    ok({ ...job, principal: 'ci|job', host: 'git.example' }),
  );
  // One CI system that is down does not keep the jobs of another from being heard.
  expect(await jobOf([AWAY, ci])).toMatchObject({ value: job });
  expect(await jobOf([AWAY, { ...ci, issuer: 'https://other' }])).toMatchObject(err({ code: 'identity_unreachable' }));
  expect(await jobOf([{ ...ci, repositories: ['*'], ref: '*' }])).toMatchObject({ value: job });
  expect(await jobOf([{ ...ci, repositories: ['acme/other', 'acme/shop'] }])).toMatchObject({ value: job });
  // What an operator did not say counts for nothing, also where an earlier release stored it.
  const { repositories: _, ...anyRepository } = ci;
  const { ref: __, ...anyRef } = ci;
  for (const open of [anyRepository, anyRef, { ...anyRef, repositories: ['*'] }]) {
    expect(await jobOf([open])).toEqual(err({ code: 'ci_job_unfit', why: 'not_pinned' }));
  }
  for (const repositories of [[], ['acme'], ['acme/'], ['acme/shop2'], ['acme/*']]) {
    expect(await jobOf([{ ...ci, repositories }])).toEqual(err({ code: 'ci_job_unfit', why: 'other_repository' }));
  }
  expect(await jobOf([])).toEqual(err({ code: 'ci_unknown' }));
  expect(await jobOf([{ ...ci, issuer: 'https://other' }])).toEqual(err({ code: 'ci_unknown' }));
  expect(await jobOf([{ ...ci, ref: 'refs/heads/dev' }])).toEqual(err({ code: 'ci_job_unfit', why: 'other_ref' }));
  for (const name of ['repository', 'ref', 'sha'] as const) {
    const { [name]: _, ...less } = job;
    expect(await jobOf([ci], less)).toEqual(err({ code: 'ci_job_unfit', why: 'claims_missing' }));
  }
});

it('nobody gets a name that a terminal would show as something else, and such a name can be removed', () => {
  for (const name of ['https://idp|4 2', 'https://idp|4\n2', 'https://idp|\u001b[2J', 'https://idp|\u007f']) {
    expect(TEAM_INPUTS.setMember.safeParse({ principal: name, role: 'reader' }).success).toBe(false);
    const program = name.replace('|', '-');
    expect(TEAM_INPUTS.createToken.safeParse({ for: program, role: 'agent', days: 1 }).success).toBe(false);
    expect(TEAM_INPUTS.removeMember.safeParse({ principal: name }).success).toBe(true);
  }
  expect(TEAM_INPUTS.setMember.safeParse({ principal: 'https://idp|zoë', role: 'reader' }).success).toBe(true);
});
