import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { err, ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { masterKeySealer } from '../../src/adapters/identity/identity-provider.ts';
import type { Identity, IdentityProvider, SpaceAccess, TrustedCi } from '../../src/app/ports/team-database.ts';
import { ciJob } from '../../src/app/team/ci-evidence.ts';
import { PAGE_KEY_HEADER } from '../../src/core/wire/console-paths.ts';
import { ROLES, type Role } from '../../src/core/wire/team-paths.ts';
import type { BrowserSession } from '../../src/http/team/browser-sessions.ts';
import { teamConsole } from '../../src/http/team/team-console.ts';
import { enforces } from '../enforces.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const sealer = masterKeySealer(randomBytes(32));
const answer = '/s/shop/api/sessions/sess_1/gates/node_1/answer';

/** A console whose spaces nobody can open: a request that gets as far as that was let in. */
function consoleFor(roles: { readonly [principal: string]: Role }): Hono {
  const access = {
    roleOf: async (principal: string) => ok(roles[principal]),
    note: async () => ok(undefined),
  } as unknown as SpaceAccess;
  const app = teamConsole({
    publicUrl: new URL('http://localhost:8080'),
    signIn: undefined,
    sealer,
    clock: { nowMs: () => NOW },
    version: '1',
    assets: { file: async () => undefined, page: async () => '<title>Page</title>' },
    access: async () => ok(access),
    consoleOf: async () => err({ code: 'not_migrated', missing: 1 }),
    admin: { clock: { nowMs: () => NOW }, sha256: () => expect.fail('nothing is made'), random: () => randomBytes(32) },
  });
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

it('a job of CI is known by an issuer that the space trusts, with its repository, ref and commit', async () => {
  enforces('ci_evidence_is_of_its_job');
  const job = { repository: 'acme/shop', ref: 'refs/heads/main', sha: 'abc' };
  const jobOf = (trusted: readonly TrustedCi[], said: Identity['job'] = job) => {
    const access = { ci: async () => ok(trusted) } as unknown as SpaceAccess;
    const identity = { principal: 'ci|job', scopes: [], expiresAt: NOW, job: said };
    const providerOf = (issuer: string): IdentityProvider => ({
      issuer,
      identify: async (token, [audience]) => ok(token === `${issuer} for ${audience}` ? identity : undefined),
    });
    return ciJob(access, 'https://ci for https://rail', { providerOf, audiences: ['https://rail'] });
  };
  const ci = { issuer: 'https://ci', host: 'git.example' };
  expect(await jobOf([{ ...ci, issuer: 'https://other' }, ci])).toEqual(
    ok({ ...job, principal: 'ci|job', host: 'git.example' }),
  );
  expect(await jobOf([{ ...ci, ref: 'refs/heads/main' }])).toMatchObject({ value: job });
  expect(await jobOf([])).toEqual(err({ code: 'ci_unknown' }));
  expect(await jobOf([{ ...ci, issuer: 'https://other' }])).toEqual(err({ code: 'ci_unknown' }));
  expect(await jobOf([{ ...ci, ref: 'refs/heads/dev' }])).toEqual(err({ code: 'ci_job_unfit', why: 'other_ref' }));
  for (const name of ['repository', 'ref', 'sha'] as const) {
    const { [name]: _, ...less } = job;
    expect(await jobOf([ci], less)).toEqual(err({ code: 'ci_job_unfit', why: 'claims_missing' }));
  }
});
