import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type {
  AccessToken,
  AuditEntry,
  AuditLog,
  ChangeMade,
  Member,
  SpaceAccess,
} from '../../app/ports/team-database.ts';
import { assert } from '../../core/assert.ts';
import { linkedBytes, ownJsonBytes, type Sha256, type Sha256Digest } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { ROLES, type Role } from '../../core/wire/team-paths.ts';
import { AUDIT_ACTIONS } from '../../core/wire/team-shapes.ts';
import { digestBytes, digestText, type Rows, type SpaceParts, type Statement, sql, storeFailure } from './database.ts';

const MEMBERS = sql('members', 'select principal, role from wr.member where space_id = $1 order by principal');
const ROLE = sql('member_role', 'select role from wr.member where space_id = $1 and principal = $2');
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
const HANDOVER = sql('handover', "select settings->>'handover' as handover from wr.space where space_id = $1");
const SET_HANDOVER = sql(
  'set_handover',
  "update wr.space set settings = settings || jsonb_build_object('handover', $2::text) where space_id = $1 returning 1",
);
const FOUR_EYES = sql('four_eyes', "select settings->>'four_eyes' as four_eyes from wr.space where space_id = $1");
const SET_FOUR_EYES = sql(
  'set_four_eyes',
  "update wr.space set settings = settings || jsonb_build_object('four_eyes', $2::boolean) where space_id = $1 returning 1",
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
const ciSchema = z.record(z.string(), z.object({ host: z.string(), ref: z.string().optional() }));
/** Takes its turn like a change. */
const CHANGE_NOTHING = sql('change_nothing', 'select 1 from wr.space where space_id = $1');
const HANDED_TO = sql('handed_to', 'select handed_to from wr.session where space_id = $1 and session_id = $2');
const HAND_OVER = sql(
  'hand_over',
  'update wr.session set handed_to = $3 where space_id = $1 and session_id = $2 and next_event_index > 0 returning 1',
);
/** Those who change access of one space go one after the other, so the chain of its audit log has no gap and no fork. */
const TAKE_TURN = sql('audit_turn', 'select 1 from wr.space where space_id = $1 for update');
const LAST_ENTRY = sql('audit_last', 'select seq, chain from wr.audit where space_id = $1 order by seq desc limit 1');
const ADD_ENTRY = sql(
  'audit_add',
  'insert into wr.audit (space_id, seq, entry, chain) values ($1, $2, $3, $4) returning 1',
);
const ENTRIES = sql('audit_all', 'select seq, entry, chain from wr.audit where space_id = $1 order by seq');

const entrySchema = z.strictObject({
  seq: z.int().min(1),
  at: z.int().min(0),
  by: z.string().min(1),
  action: z.enum(AUDIT_ACTIONS),
  subject: z.string().min(1),
  role: z.enum(ROLES).optional(),
});

type TokenRow = {
  readonly token_id: string;
  readonly principal: string;
  readonly role: AccessToken['role'];
  readonly made_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
};

type ChainRow = { readonly seq: string; readonly chain: Buffer };
type Change = { readonly statement: Statement; readonly values: readonly unknown[] };
type Fact = Pick<AuditEntry, 'action' | 'subject' | 'role'>;

/** Who may do what in one space of a database. */
export function postgresAccess({ database, spaceId, sha256 }: Omit<SpaceParts, 'masterKey'>): SpaceAccess {
  async function read(statement: Statement, ...values: readonly unknown[]): Promise<Result<Rows, StoreFailure>> {
    const found = await database.run(statement, [spaceId, ...values]);
    return found.mapErr((failure) => storeFailure(failure, 'read access', 'space'));
  }

  async function changed(
    { statement, values }: Change,
    fact: Fact,
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
      return recorded(run, fact, made);
    });
    return done.mapErr((failure) =>
      failure.code === 'database_failed' ? storeFailure(failure, 'change access', 'space') : failure,
    );
  }

  async function recorded(
    run: (one: Statement, ...values: readonly unknown[]) => ReturnType<typeof read>,
    fact: Fact,
    { at, by }: ChangeMade,
  ): Promise<Result<boolean, StoreFailure>> {
    const last = await run(LAST_ENTRY);
    if (last.isErr()) return err(last.error);
    const [before] = last.value as unknown as readonly ChainRow[];
    const seq = Number(before?.seq ?? 0) + 1;
    const entry: AuditEntry = defined({ seq, at, by, ...fact });
    const chain = chainOf(sha256, before === undefined ? undefined : digestText(before.chain), entry);
    return (await run(ADD_ENTRY, seq, Buffer.from(ownJsonBytes(entry)).toString(), digestBytes(chain))).map(() => true);
  }

  return {
    members: async () => (await read(MEMBERS)).map((rows) => rows as unknown as readonly Member[]),
    roleOf: async (principal) => (await read(ROLE, principal)).map(([row]) => row?.['role'] as Role | undefined),
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
    audit: async () => (await read(ENTRIES)).map((rows) => auditLog(rows, sha256)),
  };
}

type Read = (statement: Statement, ...values: readonly unknown[]) => Promise<Result<Rows, StoreFailure>>;
type Changed = (change: Change, fact: Fact, made: ChangeMade) => Promise<Result<boolean, StoreFailure>>;
type Policies = Pick<
  SpaceAccess,
  | 'handover'
  | 'setHandover'
  | 'handedTo'
  | 'handOver'
  | 'isFourEyes'
  | 'setFourEyes'
  | 'note'
  | 'ci'
  | 'trustCi'
  | 'removeCi'
>;

function policies(read: Read, changed: Changed): Policies {
  return {
    isFourEyes: async () => (await read(FOUR_EYES)).map(([row]) => row?.['four_eyes'] === 'true'),
    setFourEyes: async (isOn, made) => {
      const fact = { action: 'four_eyes_set', subject: isOn ? 'on' : 'off' } as const;
      return (await changed({ statement: SET_FOUR_EYES, values: [isOn] }, fact, made)).map(() => undefined);
    },
    ci: async () =>
      (await read(CI)).map(([row]) =>
        Object.entries(ciSchema.safeParse(row?.['ci'] ?? {}).data ?? {}).map(([issuer, how]) => ({ issuer, ...how })),
      ),
    trustCi: async ({ issuer, host, ref }, made) => {
      const change = { statement: TRUST_CI, values: [issuer, JSON.stringify({ host, ref })] };
      const fact = { action: 'ci_trusted', subject: [issuer, host, ref ?? ''].join(' ').trim() } as const;
      return (await changed(change, fact, made)).map(() => undefined);
    },
    removeCi: (issuer, made) =>
      changed({ statement: REMOVE_CI, values: [issuer] }, { action: 'ci_removed', subject: issuer }, made),
    note: async (action, subject, made) =>
      (await changed({ statement: CHANGE_NOTHING, values: [] }, { action, subject }, made)).map(() => undefined),
    handover: async () => (await read(HANDOVER)).map(([row]) => (row?.['handover'] === 'owner' ? 'owner' : 'space')),
    setHandover: async (handover, made) => {
      const change = { statement: SET_HANDOVER, values: [handover] };
      return (await changed(change, { action: 'handover_set', subject: handover }, made)).map(() => undefined);
    },
    handedTo: async (sessionId) =>
      (await read(HANDED_TO, sessionId)).map(([row]) => (row?.['handed_to'] as string | null | undefined) ?? undefined),
    handOver: (sessionId, principal, made) => {
      const fact = { action: 'session_handed_over', subject: `${sessionId} to ${principal}` } as const;
      return changed({ statement: HAND_OVER, values: [sessionId, principal] }, fact, made);
    },
  };
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

/** The first entry follows on nothing. */
const GENESIS = ownJsonBytes({ audit: 1 });

function chainOf(sha256: Sha256, before: string | undefined, entry: AuditEntry): Sha256Digest {
  const linked = linkedBytes((before as Sha256Digest | undefined) ?? sha256(GENESIS), entry);
  assert(linked.isOk(), 'an entry is JSON');
  return sha256(linked.value);
}

/** Entries up to the first that is missing, changed or unreadable. */
function auditLog(rows: Rows, sha256: Sha256): AuditLog {
  const entries: AuditEntry[] = [];
  const chains: Sha256Digest[] = [];
  for (const row of rows as unknown as readonly (ChainRow & { readonly entry: string })[]) {
    const entry = entrySchema.safeParse(jsonOf(row.entry)).data;
    const isNext = entry?.seq === entries.length + 1 && Number(row.seq) === entry.seq;
    const chain = entry === undefined || !isNext ? undefined : chainOf(sha256, chains.at(-1), entry);
    if (entry === undefined || chain === undefined || chain !== digestText(row.chain)) {
      return { entries, chains, brokenAt: entries.length + 1 };
    }
    entries.push(entry);
    chains.push(chain);
  }
  return { entries, chains };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
