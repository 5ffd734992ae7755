import { err, ok, type Result } from 'neverthrow';
import type { MigrationRefusal } from '../../app/ports/team-database.ts';
import { type Held, sql, storeFailure } from './database.ts';

/**
 * What a server does with each table, and all it may do. What was appended, content, and entries of the audit log are
 * never changed or deleted by it: collecting old sessions is a command of the role that owns the tables. When the key of a
 * session changes, PostgreSQL changes the rows that refer to it in the name of the owner.
 */
const NEEDS: { readonly [table: string]: string } = {
  append: 'select, insert',
  audit: 'select, insert',
  content: 'select, insert, update (touched)',
  content_ref: 'select, insert',
  session: `select, insert, update (session_id, next_event_index, next_manifest_index, chain, last_at, arrived_at,
    is_imported, salvage, origin, kept, binned_at, handed_to, is_open, bytes)`,
  space: 'select, update (settings, audit_seq, audit_chain)',
  summary: 'select, insert, update',
  keyring: 'select, insert, update',
  access_token: 'select, insert, update',
  closed_run: 'select, insert, update, delete',
  member: 'select, insert, update, delete',
  source: 'select, insert, update, delete',
  ended_session: 'select, insert, update, delete',
  schema_version: 'select',
  event: 'select',
};

const IS_THERE = sql('server_role', 'select 1 from pg_roles where rolname = $1');
/** A superuser, the owner, and a member of a role that may do more. Deleting a session deletes its appends. */
const IS_TOO_WIDE = sql(
  'server_role_rights',
  `select pg_has_role($1, (select nspowner from pg_namespace where nspname = 'wr'), 'member') or bool_or(has_table_privilege($1, name, 'delete, truncate, trigger')
     or name in ('wr.append', 'wr.audit') and has_any_column_privilege($1, name, 'update')) as is_too_wide
   from unnest(array['wr.append', 'wr.audit', 'wr.content', 'wr.content_ref', 'wr.session']) as name`,
);
/** A role that was given these rights before has rights to what the owner will create, and no other role has. */
const KNOWN = sql(
  'server_roles',
  `select distinct r.rolname from pg_default_acl d
     join pg_namespace n on n.oid = d.defaclnamespace and n.nspname = 'wr'
     cross join lateral aclexplode(d.defaclacl) a join pg_roles r on r.oid = a.grantee
   where d.defaclrole = current_user::regrole and r.rolname <> current_user order by 1`,
);

/** Gives the role of the servers exactly the rights that a server needs. */
export async function grantServerRole(held: Held, role: string): Promise<Result<void, MigrationRefusal>> {
  const there = await held.run(IS_THERE, [role]);
  if (there.isErr()) return err(storeFailure(there.error, 'grant rights', role));
  if (there.value.length === 0) return err({ code: 'server_role_unfit', role, why: 'missing' });
  const granted = await held.run({ name: '', text: grantsTo(role) }, []);
  if (granted.isErr()) return err(storeFailure(granted.error, 'grant rights', role));
  const rights = await held.run(IS_TOO_WIDE, [role]);
  if (rights.isErr()) return err(storeFailure(rights.error, 'grant rights', role));
  return rights.value[0]?.['is_too_wide'] === true
    ? err({ code: 'server_role_unfit', role, why: 'too_wide' })
    : ok(undefined);
}

/** After a change of the tables: the roles that were given these rights before. */
export async function grantKnownRoles(held: Held): Promise<Result<void, MigrationRefusal>> {
  const known = await held.run(KNOWN, []);
  if (known.isErr()) return err(storeFailure(known.error, 'grant rights', 'schema'));
  const text = known.value.map(({ rolname }) => grantsTo(rolname as string)).join('');
  const granted = text === '' ? known : await held.run({ name: '', text }, []);
  return granted.map(() => undefined).mapErr((failure) => storeFailure(failure, 'grant rights', 'schema'));
}

function grantsTo(role: string): string {
  const to = `"${role.replaceAll('"', '""')}"`;
  return [
    `revoke all on all tables in schema wr from ${to}`,
    `grant usage on schema wr to ${to}`,
    `alter default privileges in schema wr grant select on tables to ${to}`,
    ...Object.entries(NEEDS).map(([table, rights]) => `grant ${rights} on wr.${table} to ${to}`),
  ]
    .map((statement) => `${statement};\n`)
    .join('');
}
