import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type {
  AccessToken,
  ChangeMade,
  GivenRole,
  Member,
  SettingChange,
  SpaceAccess,
} from '../../app/ports/team-database.ts';
import { defined } from '../../core/json/json-value.ts';
import { gitSourceSchema } from '../../core/sources.ts';
import { plural, sizeOf } from '../../core/text/words.ts';
import { HANDOVERS, ROLES, SPACE_LIMITS } from '../../core/wire/team-paths.ts';
import { type AuditFact, readAccessLog, recordEntry, TAKE_TURN } from './access-log.ts';
import { digestBytes, type Rows, type SpaceParts, type Statement, sql, storeFailure } from './database.ts';
import { postgresSources } from './postgres-sources.ts';

const MEMBERS = sql('members', 'select principal, role from wr.member where space_id = $1 order by principal');
const ROLES_OF = sql(
  'member_roles',
  'select principal, role from wr.member where space_id = $1 and principal = any($2) order by principal',
);
const SET_MEMBER = sql(
  'set_member',
  `insert into wr.member (space_id, principal, role, added_at) values ($1, $2, $3, $4)
   on conflict (space_id, principal) do update set role = excluded.role returning 1`,
);
const REMOVE_MEMBER = sql('remove_member', 'delete from wr.member where space_id = $1 and principal = $2 returning 1');
const TOKEN_COLUMNS = 'token_id, principal, role, made_at, expires_at, revoked_at';
const TOKENS = sql(
  'tokens',
  `select ${TOKEN_COLUMNS} from wr.access_token where space_id = $1 order by made_at, token_id`,
);
const TOKEN_WITH = sql(
  'token_with',
  `select ${TOKEN_COLUMNS} from wr.access_token
   where space_id = $1 and hash = $2 and revoked_at is null and expires_at > $3`,
);
const ADD_TOKEN = sql(
  'add_token',
  `insert into wr.access_token (space_id, token_id, hash, principal, role, made_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning 1`,
);
const REVOKE_TOKEN = sql(
  'revoke_token',
  'update wr.access_token set revoked_at = $3 where space_id = $1 and token_id = $2 and revoked_at is null returning 1',
);
const SETTINGS = sql(
  'settings',
  `select p.settings, coalesce((select jsonb_agg(s.source order by s.name) from wr.source s
     where s.space_id = p.space_id and s.is_accepted), '[]') as sources
   from wr.space p where p.space_id = $1`,
);
const CHANGE_SETTINGS = sql(
  'change_settings',
  'update wr.space set settings = settings || $2::jsonb where space_id = $1 returning 1',
);
const CI = sql('ci', "select settings->'ci' as ci from wr.space where space_id = $1");
const TRUST_CI = sql(
  'trust_ci',
  `update wr.space set settings = settings || jsonb_build_object('ci',
     coalesce(settings->'ci', '{}') || jsonb_build_object($2::text, $3::jsonb)) where space_id = $1 returning 1`,
);
const REMOVE_CI = sql(
  'remove_ci',
  `update wr.space set settings = settings || jsonb_build_object('ci', (settings->'ci') - $2::text)
   where space_id = $1 and settings->'ci' ? $2::text returning 1`,
);
/** Sessions from before their size was recorded. A further look counts those that are left. */
const COUNT_BYTES = sql(
  'count_bytes',
  `update wr.session s set bytes =
     (select coalesce(sum(octet_length(a.events)), 0) from wr.append a
       where a.space_id = s.space_id and a.session_id = s.session_id) +
     (select coalesce(sum(octet_length(c.bytes)), 0) from wr.content_ref r
       join wr.content c on c.space_id = r.space_id and c.kind = r.kind and c.digest = r.digest
       where r.space_id = s.space_id and r.session_id = s.session_id and r.kind <> 3)
   where s.space_id = $1 and s.session_id in (
     select session_id from wr.session where space_id = $1 and bytes is null limit 500)`,
);
/** Workflows are shared by the sessions of a space, so they are counted once. */
const USE = sql(
  'use',
  `select count(*) filter (where s.is_open and s.binned_at is null and s.next_event_index > 0 and not exists (
       select 1 from wr.closed_run c where c.space_id = s.space_id and c.session_id = s.session_id))::float8 as open,
     (coalesce(sum(s.bytes), 0) + (select coalesce(sum(octet_length(w.bytes)), 0) from wr.content w
       where w.space_id = $1 and w.kind = 3))::float8 as bytes
   from wr.session s where s.space_id = $1`,
);
const settingsSchema = z.object({
  handover: z.enum(HANDOVERS).catch('space'),
  four_eyes: z.boolean().catch(false),
  open_sessions_max: z.number().catch(SPACE_LIMITS.openSessionsMax),
  bytes_max: z.number().catch(SPACE_LIMITS.bytesMax),
});
const ciSchema = z.record(
  z.string(),
  z.object({ host: z.string(), ref: z.string().optional(), repositories: z.array(z.string()).optional() }),
);
/** Takes its turn like a change. */
const CHANGE_NOTHING = sql('change_nothing', 'select 1 from wr.space where space_id = $1');
const HANDED_TO = sql('handed_to', 'select handed_to from wr.session where space_id = $1 and session_id = $2');
const HAND_OVER = sql(
  'hand_over',
  'update wr.session set handed_to = $3 where space_id = $1 and session_id = $2 and next_event_index > 0 returning 1',
);
type TokenRow = {
  readonly token_id: string;
  readonly principal: string;
  readonly role: AccessToken['role'];
  readonly made_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
};

type Change = { readonly statement: Statement; readonly values: readonly unknown[] };

/** Who may do what in one space of a database. */
export function postgresAccess({ database, spaceId, sha256 }: Omit<SpaceParts, 'masterKey'>): SpaceAccess {
  async function read(statement: Statement, ...values: readonly unknown[]): Promise<Result<Rows, StoreFailure>> {
    const found = await database.run(statement, [spaceId, ...values]);
    return found.mapErr((failure) => storeFailure(failure, 'read access', 'space'));
  }

  async function changed(
    { statement, values }: Change,
    fact: AuditFact,
    made: ChangeMade,
  ): Promise<Result<boolean, StoreFailure>> {
    const done = await database.transaction<boolean, StoreFailure>(async (held) => {
      const run = async (one: Statement, ...with_: readonly unknown[]) =>
        (await held.run(one, [spaceId, ...with_])).mapErr((failure) => storeFailure(failure, 'change access', 'space'));
      const turn = await run(TAKE_TURN);
      if (turn.isErr()) return err(turn.error);
      const change = await run(statement, ...values);
      if (change.isErr()) return err(change.error);
      if (change.value.length === 0) return ok(false);
      return recordEntry(run, turn.value, { fact, made, sha256 });
    });
    return done.mapErr((failure) =>
      failure.code === 'database_failed' ? storeFailure(failure, 'change access', 'space') : failure,
    );
  }

  return {
    members: async () => (await read(MEMBERS)).map((rows) => rows as unknown as readonly Member[]),
    roleOf: async ({ principal, groups }) =>
      (await read(ROLES_OF, [principal, ...groups])).map((rows) =>
        givenRole(rows as unknown as readonly Member[], principal),
      ),
    setMember: async ({ principal, role }, made) =>
      (
        await changed(
          { statement: SET_MEMBER, values: [principal, role, made.at] },
          { action: 'member_set', subject: principal, role },
          made,
        )
      ).map(() => undefined),
    removeMember: (principal, made) =>
      changed(
        { statement: REMOVE_MEMBER, values: [principal] },
        { action: 'member_removed', subject: principal },
        made,
      ),
    tokens: async () => (await read(TOKENS)).map((rows) => rows.map((row) => tokenOf(row as unknown as TokenRow))),
    tokenWith: async (digest, now) =>
      (await read(TOKEN_WITH, digestBytes(digest), now)).map(([row]) =>
        row === undefined ? undefined : tokenOf(row as unknown as TokenRow),
      ),
    addToken: async ({ tokenId, principal, role, madeAt, expiresAt }, digest, made) =>
      (
        await changed(
          { statement: ADD_TOKEN, values: [tokenId, digestBytes(digest), principal, role, madeAt, expiresAt] },
          { action: 'token_created', subject: `${tokenId} for ${principal}`, role },
          made,
        )
      ).map(() => undefined),
    revokeToken: (tokenId, made) =>
      changed(
        { statement: REVOKE_TOKEN, values: [tokenId, made.at] },
        { action: 'token_revoked', subject: tokenId },
        made,
      ),
    ...policies(read, changed),
    ...postgresSources(read, changed),
    audit: () => readAccessLog(read, sha256),
  };
}

type Read = (statement: Statement, ...values: readonly unknown[]) => Promise<Result<Rows, StoreFailure>>;
type Changed = (change: Change, fact: AuditFact, made: ChangeMade) => Promise<Result<boolean, StoreFailure>>;
type Policies = Pick<
  SpaceAccess,
  'settings' | 'change' | 'use' | 'handedTo' | 'handOver' | 'note' | 'ci' | 'trustCi' | 'removeCi'
>;

function policies(read: Read, changed: Changed): Policies {
  return {
    settings: async () =>
      (await read(SETTINGS)).map(([row]) => {
        const { handover, four_eyes, open_sessions_max, bytes_max } = settingsSchema.parse(row?.['settings'] ?? {});
        const limits = { openSessionsMax: open_sessions_max, bytesMax: bytes_max };
        const sources = z.array(gitSourceSchema).parse(row?.['sources'] ?? []);
        return { handover, isFourEyes: four_eyes, limits, sources };
      }),
    change: async (setting, made) => {
      const { stored, fact } = storedSetting(setting);
      const change = { statement: CHANGE_SETTINGS, values: [JSON.stringify(stored)] };
      return (await changed(change, fact, made)).map(() => undefined);
    },
    use: async () => {
      const counted = await read(COUNT_BYTES);
      if (counted.isErr()) return err(counted.error);
      return (await read(USE))
        .map(([row]) => row as { readonly open: number; readonly bytes: number })
        .map(({ open, bytes }) => ({ openSessions: open, bytes }));
    },
    ci: async () =>
      (await read(CI)).map(([row]) =>
        Object.entries(ciSchema.safeParse(row?.['ci'] ?? {}).data ?? {}).map(([issuer, how]) => ({ issuer, ...how })),
      ),
    trustCi: async ({ issuer, host, repositories = [], ref }, made) => {
      const change = { statement: TRUST_CI, values: [issuer, JSON.stringify({ host, repositories, ref })] };
      const fact = {
        action: 'ci_trusted',
        subject: [issuer, host, ...repositories, ref ?? ''].join(' ').trim(),
      } as const;
      return (await changed(change, fact, made)).map(() => undefined);
    },
    removeCi: (issuer, made) =>
      changed({ statement: REMOVE_CI, values: [issuer] }, { action: 'ci_removed', subject: issuer }, made),
    note: async (action, subject, made) =>
      (await changed({ statement: CHANGE_NOTHING, values: [] }, { action, subject }, made)).map(() => undefined),
    handedTo: async (sessionId) =>
      (await read(HANDED_TO, sessionId)).map(([row]) => (row?.['handed_to'] as string | null | undefined) ?? undefined),
    handOver: (sessionId, principal, made) => {
      const fact = { action: 'session_handed_over', subject: `${sessionId} to ${principal}` } as const;
      return changed({ statement: HAND_OVER, values: [sessionId, principal] }, fact, made);
    },
  };
}

/** The highest of these roles. What a person has by name needs no group. */
function givenRole(members: readonly Member[], principal: string): GivenRole | undefined {
  const highest = ROLES.findLast((role) => members.some((one) => one.role === role));
  if (highest === undefined) return undefined;
  const those = members.filter(({ role }) => role === highest).map((one) => one.principal);
  const through = those.includes(principal) ? undefined : those[0];
  return { role: highest, ...defined({ through }) };
}

/** A setting as the row of the space has it, and as the audit log names it. */
function storedSetting(setting: SettingChange): { readonly stored: object; readonly fact: AuditFact } {
  if ('handover' in setting) {
    const { handover } = setting;
    return { stored: { handover }, fact: { action: 'handover_set', subject: handover } };
  }
  if ('isFourEyes' in setting) {
    const { isFourEyes } = setting;
    return { stored: { four_eyes: isFourEyes }, fact: { action: 'four_eyes_set', subject: isFourEyes ? 'on' : 'off' } };
  }
  if ('openSessionsMax' in setting) {
    const { openSessionsMax } = setting;
    return {
      stored: { open_sessions_max: openSessionsMax },
      fact: { action: 'limit_set', subject: plural(openSessionsMax, 'open session') },
    };
  }
  const { bytesMax } = setting;
  return { stored: { bytes_max: bytesMax }, fact: { action: 'limit_set', subject: sizeOf(bytesMax) } };
}

function tokenOf({ token_id, principal, role, made_at, expires_at, revoked_at }: TokenRow): AccessToken {
  return {
    tokenId: token_id,
    principal,
    role,
    madeAt: Number(made_at),
    expiresAt: Number(expires_at),
    ...(revoked_at === null ? {} : { revokedAt: Number(revoked_at) }),
  };
}
