import { hash } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import type { MigrationRefusal, MigrationStep, MigrationWish } from '../../app/ports/team-database.ts';
import { type Database, type Held, storeFailure } from './database.ts';
import { grantKnownRoles, grantServerRole } from './server-role.ts';

/** One change of the schema. They are only ever added; a released one never changes. */
type Migration = { readonly version: number; readonly title: string; readonly sql: string };

/** Part of the third migration, which never changes. */
const TABLES_OF_SPACES = [
  ...['session', 'append', 'content', 'content_ref', 'closed_run', 'summary', 'keyring'],
  ...['member', 'access_token', 'audit'],
];

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    title: 'sessions, their content, marks and keys',
    sql: `
create table wr.space (
  space_id int primary key generated always as identity,
  name text unique not null,
  settings jsonb not null default '{}');

-- The head of a session. No index covers what changes, so that an update stays on its page.
create table wr.session (
  space_id int not null references wr.space,
  session_id text not null,
  next_event_index bigint not null,
  next_manifest_index bigint not null,
  chain bytea not null,
  last_at bigint,
  arrived_at timestamptz not null default now(),
  is_imported boolean not null default false,
  salvage jsonb,
  origin jsonb,
  kept boolean not null default false,
  binned_at bigint,
  primary key (space_id, session_id)) with (fillfactor = 50);

-- One row per append: the segment byte for byte, and the manifest records that attest it.
create table wr.append (
  space_id int not null,
  session_id text not null,
  first_event_index bigint not null,
  last_event_index bigint not null,
  records jsonb not null,
  chain bytea not null,
  dedupe_key text not null,
  events bytea not null,
  primary key (space_id, session_id, first_event_index),
  unique (space_id, session_id, dedupe_key),
  foreign key (space_id, session_id) references wr.session on update cascade on delete cascade);
alter table wr.append alter column events set storage external;

-- Kinds: 1 snapshot, 2 artifact, 3 workflow. Content is never shared between spaces.
create table wr.content (
  space_id int not null references wr.space,
  kind smallint not null,
  digest bytea not null,
  bytes bytea not null,
  touched timestamptz not null default now(),
  primary key (space_id, kind, digest));

create table wr.content_ref (
  space_id int not null,
  session_id text not null,
  kind smallint not null,
  digest bytea not null,
  primary key (space_id, session_id, kind, digest),
  foreign key (space_id, session_id) references wr.session on update cascade on delete cascade,
  foreign key (space_id, kind, digest) references wr.content);
create index content_ref_content on wr.content_ref (space_id, kind, digest);

create table wr.closed_run (
  space_id int not null,
  session_id text not null,
  run_id text not null,
  closed_at bigint not null,
  primary key (space_id, session_id, run_id),
  foreign key (space_id, session_id) references wr.session on update cascade on delete cascade);

-- Derived: what a list needs to know of a session as of a manifest index.
create table wr.summary (
  space_id int not null,
  session_id text not null,
  manifest_index bigint not null,
  summary jsonb not null,
  primary key (space_id, session_id),
  foreign key (space_id, session_id) references wr.session on update cascade on delete cascade);

create table wr.keyring (
  space_id int primary key references wr.space,
  version bigint not null,
  sealed bytea not null);

-- For people who like SQL: every event as a row.
create view wr.event as
  select a.space_id, a.session_id, a.first_event_index + line.number - 1 as event_index, line.text::jsonb as event
  from wr.append a,
    lateral regexp_split_to_table(rtrim(convert_from(a.events, 'UTF8'), E'\\n'), E'\\n') with ordinality as line(text, number);
`,
  },
  {
    version: 2,
    title: 'members, access tokens and the audit log',
    sql: `
create table wr.member (
  space_id int not null references wr.space,
  principal text not null,
  role text not null check (role in ('reader', 'agent', 'approver', 'admin')),
  added_at bigint not null,
  primary key (space_id, principal));

-- Only the hash of a token is stored. Tokens of programs never approve and never administer.
create table wr.access_token (
  space_id int not null references wr.space,
  token_id text not null,
  hash bytea not null unique,
  principal text not null,
  role text not null check (role in ('reader', 'agent')),
  made_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  primary key (space_id, token_id));

-- What no session's log holds: who was given or lost access. Each entry is chained to the one before.
create table wr.audit (
  space_id int not null references wr.space,
  seq bigint not null,
  entry text not null,
  chain bytea not null,
  primary key (space_id, seq));
`,
  },
  {
    version: 3,
    title: 'row level security, for connections that name their space',
    sql: TABLES_OF_SPACES.map(
      (table) => `
alter table wr.${table} enable row level security;
alter table wr.${table} force row level security;
create policy own_space on wr.${table}
  using (coalesce(current_setting('wr.space', true), '') in ('', space_id::text));
`,
    ).join(''),
  },
  {
    version: 4,
    title: 'sessions that were handed over',
    sql: 'alter table wr.session add column handed_to text',
  },
  {
    version: 5,
    title: 'sessions that may have an unfinished run',
    sql: `
-- Every append sets it, and a summary without an unfinished run clears it. An update that leaves it as it is stays on its
-- page.
alter table wr.session add column is_open boolean not null default true;
create index session_open on wr.session (space_id) where is_open;
`,
  },
  {
    version: 6,
    title: 'the size of each session',
    sql: `
-- Bytes of events, snapshots and artifacts. Null until somebody has counted those of a session from before this column.
alter table wr.session add column bytes bigint;
`,
  },
  {
    version: 7,
    title: 'the head of the audit log, and browser sessions that ended early',
    sql: `
-- How many entries the audit log has and the chain of the last one: otherwise nobody would miss entries cut off its end.
alter table wr.space add column audit_seq bigint, add column audit_chain bytea;
update wr.space p set (audit_seq, audit_chain) =
  (select a.seq, a.chain from wr.audit a where a.space_id = p.space_id order by a.seq desc limit 1);

-- Digests of the keys of browser sessions. A row is of no use after the session would have ended by itself.
create table wr.ended_session (digest bytea primary key, ends_at bigint not null);
`,
  },
  {
    version: 8,
    title: 'summaries as text',
    sql: `
-- They are only stored and handed out, and jsonb is composed again for each reader.
alter table wr.summary alter column summary type json using summary::json;
`,
  },
  {
    version: 9,
    title: 'repositories with the workflows of a space',
    sql: `
-- A repository at a commit, with the texts of its workflow files. One may be in use, and another commit of it may wait
-- for an admin.
create table wr.source (
  space_id int not null references wr.space,
  name text not null,
  is_accepted boolean not null,
  source jsonb not null,
  paths jsonb not null,
  texts bytea not null,
  primary key (space_id, name, is_accepted));
alter table wr.source enable row level security;
alter table wr.source force row level security;
create policy own_space on wr.source
  using (coalesce(current_setting('wr.space', true), '') in ('', space_id::text));
`,
  },
  {
    version: 10,
    title: 'events with a NUL in the view of events',
    // A value of type jsonb cannot hold a NUL, and one of them made the view fail for all events.
    sql: `
create or replace view wr.event as
  select a.space_id, a.session_id, a.first_event_index + line.number - 1 as event_index,
    replace(line.text, '\\u0000', '\\ufffd')::jsonb as event
  from wr.append a,
    lateral regexp_split_to_table(rtrim(convert_from(a.events, 'UTF8'), E'\\n'), E'\\n') with ordinality as line(text, number);
`,
  },
  {
    version: 11,
    title: 'the runs that wait for a person, for metrics',
    sql: `
-- Null for nearly all sessions, so that those that wait are found by the index alone. A server of the release before
-- writes summaries without it; then the index of the summary is another one than here.
alter table wr.summary add column waiting jsonb;
create index summary_waiting on wr.summary (space_id) where waiting is not null;
update wr.summary i set waiting = (
    select jsonb_build_object('at', i.manifest_index, 'runs', jsonb_agg(run->>0))
    from json_array_elements(i.summary->'fields'->5) run where run->>12 = '1' having count(*) > 0)
  from wr.session s
  where s.space_id = i.space_id and s.session_id = i.session_id and s.is_open and i.summary->>'v' = '8';
`,
  },
];

/** The version that this program needs. */
const SCHEMA_VERSION = MIGRATIONS.length;
/**
 * Programs that know this version work with the newest tables too: what came after it only adds. The release after one
 * that stopped using a column drops it, and raises this.
 */
const WORKS_FROM = 10;

const statement = (name: string, text: string) => ({ name: `wr_${name}`, text });
const LOCK = statement('migrate_lock', "select pg_advisory_xact_lock(hashtext('workrail migrations'))");
const PREPARE_SCHEMA = statement('migrate_schema', 'create schema if not exists wr');
const PREPARE_TABLE = statement(
  'migrate_table',
  'create table if not exists wr.schema_version (version int primary key, checksum bytea not null, at timestamptz not null default now())',
);
const PREPARE_COLUMN = statement(
  'migrate_column',
  'alter table wr.schema_version add column if not exists works_from int',
);
const IS_THERE = statement('migrate_is_there', "select to_regclass('wr.schema_version') is not null as is_there");
/** The column is missing before the first migration by a program that knows it. */
const APPLIED = statement(
  'migrate_applied',
  "select version, checksum, (to_jsonb(v)->>'works_from')::int as works_from from wr.schema_version v order by version",
);
const RECORD = statement(
  'migrate_record',
  'insert into wr.schema_version (version, checksum, works_from) values ($1, $2, $3)',
);

/** Brings the schema up to date, or says what that would do. Two that run at once wait for each other. */
export function migrate(
  database: Database,
  { isDryRun, serverRole }: MigrationWish,
): Promise<Result<readonly MigrationStep[], MigrationRefusal>> {
  return failing(
    database.transaction<readonly MigrationStep[], MigrationRefusal>(async (held) => {
      for (const first of isDryRun ? [] : [LOCK, PREPARE_SCHEMA, PREPARE_TABLE, PREPARE_COLUMN]) {
        const done = await held.run(first, []);
        if (done.isErr()) return err(storeFailure(done.error, 'migrate', 'schema'));
      }
      const missing = await missingMigrations(held);
      if (missing.isErr() || isDryRun) return missing;
      for (const migration of missing.value) {
        const changed = await held.run({ name: '', text: migration.sql }, []);
        const recorded = changed.isErr()
          ? changed
          : await held.run(RECORD, [migration.version, checksumOf(migration), WORKS_FROM]);
        if (recorded.isErr()) return err(storeFailure(recorded.error, 'migrate', `version ${migration.version}`));
      }
      const kept = await grantKnownRoles(held);
      const granted = kept.isErr() || serverRole === undefined ? kept : await grantServerRole(held, serverRole);
      return granted.isErr() ? err(granted.error) : missing;
    }),
  );
}

/** What has to be migrated before this program can use the database. */
export async function pendingMigrations(
  database: Database,
): Promise<Result<readonly MigrationStep[], MigrationRefusal>> {
  return missingMigrations(database);
}

type AppliedRow = { readonly version: number; readonly checksum: Buffer; readonly works_from: number | null };

async function missingMigrations(held: Held): Promise<Result<readonly Migration[], MigrationRefusal>> {
  const there = await held.run(IS_THERE, []);
  if (there.isErr()) return err(storeFailure(there.error, 'read schema', 'schema_version'));
  if (there.value[0]?.['is_there'] !== true) return ok(MIGRATIONS);
  const applied = await held.run(APPLIED, []);
  if (applied.isErr()) return err(storeFailure(applied.error, 'read schema', 'schema_version'));
  for (const { version, checksum, works_from } of applied.value as readonly AppliedRow[]) {
    const known = MIGRATIONS.find((migration) => migration.version === version);
    if (known === undefined && works_from !== null && works_from <= SCHEMA_VERSION) continue;
    if (known === undefined) return err({ code: 'schema_newer', found: version, known: SCHEMA_VERSION });
    if (!checksum.equals(checksumOf(known))) return err({ code: 'schema_differs', version });
  }
  return ok(MIGRATIONS.slice(applied.value.length));
}

function checksumOf({ sql }: Migration): Buffer {
  return hash('sha256', sql, 'buffer');
}

async function failing<Value>(
  done: Promise<Result<Value, MigrationRefusal | { readonly code: 'database_failed' }>>,
): Promise<Result<Value, MigrationRefusal>> {
  return (await done).mapErr((refusal) =>
    refusal.code === 'database_failed'
      ? storeFailure(refusal as Parameters<typeof storeFailure>[0], 'migrate', 'schema')
      : refusal,
  );
}
