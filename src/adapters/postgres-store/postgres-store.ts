import { err, ok, type Result } from 'neverthrow';
import type { DatabaseDanger, SpaceRefusal, SpaceStore, TeamDatabase } from '../../app/ports/team-database.ts';
import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { currentStoreKey } from '../system.ts';
import { openDatabase, type SpaceParts, sql, storeFailure } from './database.ts';
import { migrate, pendingMigrations } from './migrations.ts';
import { postgresAccess } from './postgres-access.ts';
import { postgresAudit } from './postgres-audit.ts';
import { postgresCollector } from './postgres-collector.ts';
import { postgresArtifacts, postgresSnapshots, postgresWorkflows } from './postgres-content.ts';
import { postgresFeed, postgresIndex } from './postgres-index.ts';
import { postgresKeyring } from './postgres-keyring.ts';
import { postgresBin, postgresMarks } from './postgres-marks.ts';
import { postgresLogs, postgresSessions } from './postgres-sessions.ts';
import { sessionRows } from './session-rows.ts';

/** Everything durable of one space, in a PostgreSQL database. */
export function postgresStore(parts: SpaceParts): SpaceStore {
  const keyring = postgresKeyring(parts);
  const rows = sessionRows(parts, keyring.note);
  const pinnedWorkflows = postgresWorkflows(parts);
  const snapshots = postgresSnapshots(parts, pinnedWorkflows);
  const index = postgresIndex(parts, rows, { snapshots, pinnedWorkflows });
  const signed = { ...parts, storeKey: async () => currentStoreKey(await keyring.seen()) };
  const sessions = postgresSessions(signed, rows, async (session, plan) => {
    snapshots.remember(plan.snapshots);
    await index.record(session);
  });
  return {
    sessions,
    logs: postgresLogs(parts, rows),
    sessionIndex: index,
    marks: postgresMarks(parts),
    bin: postgresBin(parts, rows),
    collector: postgresCollector(parts, rows),
    audit: postgresAudit(parts, keyring),
    feed: postgresFeed(parts),
    snapshots,
    artifacts: postgresArtifacts(parts),
    pinnedWorkflows,
    keyring,
  };
}

const SPACES = sql(
  'spaces',
  `select p.space_id, p.name, count(s.session_id)::int as sessions
   from wr.space p left join wr.session s on s.space_id = p.space_id and s.binned_at is null and s.next_event_index > 0
   group by p.space_id order by p.name`,
);
const CREATE = sql('create_space', 'insert into wr.space (name) values ($1) on conflict (name) do nothing returning 1');

const DANGER_COLUMNS = [
  'fsync_off',
  'full_page_writes_off',
  'superuser',
  'bypasses_rls',
  'no_access',
] as const satisfies DatabaseDanger[];
const DANGERS = sql(
  'dangers',
  `select current_setting('fsync') <> 'on' as fsync_off, current_setting('full_page_writes') <> 'on' as full_page_writes_off,
     (select rolsuper from pg_roles where rolname = current_user) as superuser,
     (select rolbypassrls from pg_roles where rolname = current_user) as bypasses_rls,
     not exists (select 1 from wr.access_token where revoked_at is null) as no_access`,
);

type SpaceRow = { readonly space_id: number; readonly name: string; readonly sessions: number };

/** A database that is reached at a URL. Nothing is connected before it is needed. */
export function teamDatabase(
  url: string,
  sha256: Sha256,
  {
    isConfined = false,
    connectionsMax,
  }: { readonly isConfined?: boolean; readonly connectionsMax?: number | undefined } = {},
): TeamDatabase {
  const database = openDatabase({ url, ...defined({ connectionsMax }) });
  const databaseOf = (spaceId: number) => (isConfined ? database.confinedTo(spaceId) : database);

  async function migrated(): Promise<Result<void, SpaceRefusal>> {
    const missing = await pendingMigrations(database);
    if (missing.isErr()) return err(missing.error);
    const { length } = missing.value;
    return length === 0 ? ok(undefined) : err({ code: 'not_migrated', missing: length });
  }

  async function rows(): Promise<Result<readonly SpaceRow[], SpaceRefusal>> {
    const ready = await migrated();
    if (ready.isErr()) return err(ready.error);
    const listed = await database.run(SPACES, []);
    return listed
      .map((found) => found as unknown as readonly SpaceRow[])
      .mapErr((failure) => storeFailure(failure, 'list spaces', 'space'));
  }

  async function spaceNamed(name: string): Promise<Result<number, SpaceRefusal>> {
    return (await rows()).andThen((found) => {
      const space = found.find((row) => row.name === name);
      const known = found.map((row) => row.name);
      return space === undefined ? err({ code: 'space_unknown' as const, name, known }) : ok(space.space_id);
    });
  }

  return {
    migrate: (how) => migrate(database, how),
    spaces: async () => (await rows()).map((found) => found.map(({ name, sessions }) => ({ name, sessions }))),
    createSpace: async (name) => {
      const ready = await migrated();
      if (ready.isErr()) return err(ready.error);
      const made = await database.run(CREATE, [name]);
      return made.map(({ length }) => length === 1).mapErr((failure) => storeFailure(failure, 'create space', 'space'));
    },
    openSpace: async (name, masterKey) =>
      (await spaceNamed(name)).map((spaceId) => {
        const masterKeyOf = () => {
          assert(masterKey !== undefined, 'keys are only touched with a master key');
          return masterKey;
        };
        return postgresStore({ database: databaseOf(spaceId), spaceId, sha256, masterKey: masterKeyOf });
      }),
    access: async (name) =>
      (await spaceNamed(name)).map((spaceId) => postgresAccess({ database: databaseOf(spaceId), spaceId, sha256 })),
    dangers: async () => {
      const ready = await migrated();
      if (ready.isErr()) return err(ready.error);
      const found = await database.run(DANGERS, []);
      return found
        .map(([row = {}]) => DANGER_COLUMNS.filter((danger) => row[danger] === true))
        .mapErr((failure) => storeFailure(failure, 'read settings', 'database'));
    },
    close: database.close,
  };
}
