import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { defined } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { ConsoleInput, ConsoleReply } from '../../core/wire/console-shapes.ts';
import type { TeamPath } from '../../core/wire/team-paths.ts';
import type { spaceRulesShape, TEAM_INPUTS } from '../../core/wire/team-shapes.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AccessToken, Person, SpaceAccess, TeamDatabase } from '../ports/team-database.ts';
import { type AccessServices, createToken, tokenState } from './access.ts';

/** An admin of a space, and what the pages about access need. */
export type AdminCaller = {
  readonly access: SpaceAccess;
  readonly space: string;
  readonly person: Person;
  /** The group that makes them an admin. */
  readonly through: string | undefined;
  readonly spaces: TeamSpaces;
  readonly tools: AccessServices & { readonly random: () => Uint8Array };
};

/** All spaces of the team, for those who have a role in several. */
export type TeamSpaces = Pick<TeamDatabase, 'spacesOf' | 'access'>;

type AdminPath = Exclude<TeamPath, 'signOut'>;
type Given<Path> = Path extends keyof typeof TEAM_INPUTS ? ConsoleInput<Path> : undefined;

export type AccessPages = {
  readonly [path in AdminPath]: (given: Given<path>) => Promise<Result<ConsoleReply<path>, ErrorEnvelope>>;
};

const AUDIT_SHOWN_MAX = 500;

/** Who may do what in a space, as an admin sees and changes it in the console. */
export function accessPages({ access, space, person, through, spaces, tools }: AdminCaller): AccessPages {
  const { principal: admin } = person;
  const isOwn = (principal: string) => principal === admin || principal === through;
  const made = () => ({ by: admin, at: tools.clock.nowMs() });
  return {
    members: async () => {
      const members = await access.members();
      return members.map((all) => ({ members: [...all] })).mapErr(failed);
    },
    spaces: () => spacesPage(spaces, person),
    setMember: async ({ principal, role }) => {
      if (isOwn(principal) && role !== 'admin') return err(OWN_ROLE);
      return done(await access.setMember({ principal, role }, made()));
    },
    removeMember: async ({ principal }) => {
      if (isOwn(principal)) return err(OWN_ROLE);
      const removed = await access.removeMember(principal, made());
      return removed.isOk() && !removed.value
        ? err(envelope(`${principal} has no role in the space ${space}.`, 'Reload the page.'))
        : done(removed);
    },
    setSpace: async (setting) => done(await access.change(setting, made())),
    tokens: async () => {
      const now = tools.clock.nowMs();
      return (await access.tokens())
        .map((tokens) => ({ tokens: tokens.map((token) => shown(token, now)) }))
        .mapErr(failed);
    },
    createToken: async ({ for: principal, role, days }) => {
      const wish = { principal, role, days, by: admin, random: tools.random() };
      const created = await createToken(tools, access, wish);
      return created.map(({ text, tokenId, expiresAt }) => ({ token: text, tokenId, expiresAt })).mapErr(failed);
    },
    revokeToken: async ({ tokenId }) => {
      const revoked = await access.revokeToken(tokenId, made());
      return revoked.isOk() && !revoked.value
        ? err(envelope(`The token ${tokenId} does not exist, or is revoked already.`, 'Reload the page.'))
        : done(revoked);
    },
    spaceSources: async () =>
      (await access.sources()).map((sources) => ({ sources: sources.map((one) => ({ ...one })) })).mapErr(failed),
    acceptSpaceSource: async (source) => {
      const accepted = await access.acceptSource(source, made());
      return accepted.isOk() && !accepted.value
        ? err(envelope(`${source.name} no longer waits at this commit. Nothing was changed.`, 'Reload the page.'))
        : done(accepted);
    },
    removeSpaceSource: async ({ name }) => done(await access.removeSource(name, made())),
    audit: async () => {
      const log = await access.audit();
      return log
        .map(({ entries, brokenAt }) => ({
          entries: entries
            .slice(-AUDIT_SHOWN_MAX)
            .reverse()
            .map(({ role, ...entry }) => ({ ...entry, ...defined({ role }) })),
          total: entries.length,
          ...defined({ brokenAt }),
        }))
        .mapErr(failed);
    },
  };
}

/** The spaces of a person. Only admins of a space see its rules and what it holds. */
async function spacesPage(
  { spacesOf, access }: TeamSpaces,
  person: Person,
): Promise<Result<ConsoleReply<'spaces'>, ErrorEnvelope>> {
  const listed = await spacesOf(person);
  if (listed.isErr()) return err(failed(listed.error));
  const shownSpaces: ConsoleReply<'spaces'>['spaces'] = [];
  for (const { name, role } of listed.value) {
    const opened = role === 'admin' ? await access(name) : undefined;
    const rules = opened?.isOk() === true ? await rulesOf(opened.value) : ok(undefined);
    if (rules.isErr()) return err(failed(rules.error));
    shownSpaces.push({ name, role, ...defined({ rules: rules.value }) });
  }
  return ok({ spaces: shownSpaces });
}

/** The rules of a space and how far its limits are used, for its admins and the operator. */
export async function rulesOf(access: SpaceAccess): Promise<Result<z.output<typeof spaceRulesShape>, StoreFailure>> {
  const settings = await access.settings();
  if (settings.isErr()) return err(settings.error);
  const trusted = await access.ci();
  if (trusted.isErr()) return err(trusted.error);
  const ci = trusted.value.map(({ issuer, host, repositories, ref }) => ({
    issuer,
    host,
    ...defined({ repositories, ref }),
  }));
  return (await access.use()).map((use) => ({ ...settings.value, use, ci }));
}

/** A token as it is shown: never its text, which nobody has any more. */
function shown(token: AccessToken, now: number) {
  const { tokenId, principal, role, madeAt, expiresAt } = token;
  return { tokenId, for: principal, role, madeAt, expiresAt, state: tokenState(token, now) };
}

function done(result: Result<unknown, StoreFailure>): Result<Record<string, never>, ErrorEnvelope> {
  return result.map(() => ({})).mapErr(failed);
}

function failed({ code }: StoreFailure): ErrorEnvelope {
  return { ...envelope(`The database could not do this (${code}).`, 'Try it again in a moment.'), code: 'STORE_IO' };
}

function envelope(message: string, suggestion: string): ErrorEnvelope {
  return { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } };
}

const OWN_ROLE = envelope(
  'You cannot take the role of admin from yourself: the space could be left without one. Nothing was changed.',
  'Ask another admin, or the operator.',
);
