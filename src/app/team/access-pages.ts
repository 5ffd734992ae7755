import { err, ok, type Result } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { ConsoleInput, ConsoleReply } from '../../core/wire/console-shapes.ts';
import type { TeamPath } from '../../core/wire/team-paths.ts';
import type { TEAM_INPUTS } from '../../core/wire/team-shapes.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AccessToken, SpaceAccess } from '../ports/team-database.ts';
import { type AccessServices, createToken } from './access.ts';

/** An admin of a space, and what the pages about access need. */
export type AdminCaller = {
  readonly access: SpaceAccess;
  readonly space: string;
  readonly principal: string;
  readonly tools: AccessServices & { readonly random: () => Uint8Array };
};

type AdminPath = Exclude<TeamPath, 'signOut'>;
type Given<Path> = Path extends keyof typeof TEAM_INPUTS ? ConsoleInput<Path> : undefined;

export type AccessPages = {
  readonly [path in AdminPath]: (given: Given<path>) => Promise<Result<ConsoleReply<path>, ErrorEnvelope>>;
};

const AUDIT_SHOWN_MAX = 500;

/** Who may do what in a space, as an admin sees and changes it in the console. */
export function accessPages({ access, space, principal: admin, tools }: AdminCaller): AccessPages {
  const made = () => ({ by: admin, at: tools.clock.nowMs() });
  return {
    members: async () => {
      const [members, handover, isFourEyes] = await Promise.all([
        access.members(),
        access.handover(),
        access.isFourEyes(),
      ]);
      if (members.isErr()) return err(failed(members.error));
      if (handover.isErr()) return err(failed(handover.error));
      if (isFourEyes.isErr()) return err(failed(isFourEyes.error));
      return ok({ members: [...members.value], handover: handover.value, isFourEyes: isFourEyes.value });
    },
    setMember: async ({ principal, role }) => {
      if (principal === admin && role !== 'admin') return err(OWN_ROLE);
      return done(await access.setMember({ principal, role }, made()));
    },
    removeMember: async ({ principal }) => {
      if (principal === admin) return err(OWN_ROLE);
      const removed = await access.removeMember(principal, made());
      return removed.isOk() && !removed.value
        ? err(envelope(`${principal} has no role in the space ${space}.`, 'Reload the page.'))
        : done(removed);
    },
    setSpace: async ({ handover, isFourEyes }) => {
      const first = handover === undefined ? ok(undefined) : await access.setHandover(handover, made());
      if (first.isErr()) return done(first);
      return done(isFourEyes === undefined ? ok(undefined) : await access.setFourEyes(isFourEyes, made()));
    },
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

/** A token as it is shown: never its text, which nobody has any more. */
function shown({ tokenId, principal, role, madeAt, expiresAt, revokedAt }: AccessToken, now: number) {
  const state = revokedAt === undefined ? (expiresAt > now ? 'valid' : 'expired') : 'revoked';
  return { tokenId, for: principal, role, madeAt, expiresAt, state } as const;
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
