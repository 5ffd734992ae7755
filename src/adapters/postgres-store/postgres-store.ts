import { err, ok, type Result } from 'neverthrow';
import type {
  DatabaseDanger,
  EndedSessions,
  Space,
  SpaceRefusal,
  SpaceRole,
  SpaceStore,
  TeamDatabase,
} from '../../app/ports/team-database.ts';
import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { ROLES } from '../../core/wire/team-paths.ts';
import { currentStoreKey } from '../system.ts';
import {
  type Database,
  digestBytes,
  openDatabase,
  type SpaceParts,
  type Statement,
  sql,
  storeFailure,
} from './database.ts';
import { migrate, pendingMigrations } from './migrations.ts';
import { databaseNotices } from './notices.ts';
import { postgresAccess } from './postgres-access.ts';
import { postgresAudit } from './postgres-audit.ts';
import { postgresCollector } from './postgres-collector.ts';
import { postgresArtifacts, postgresSnapshots, postgresWorkflows } from './postgres-content.ts';
import { postgresFeed, postgresIndex, WAITING } from './postgres-index.ts';
import { postgresKeyring, unopenedSpaces } from './postgres-keyring.ts';
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
  const changed = () => parts.notices?.changed(parts.spaceId);
  const signed = { ...parts, storeKey: async () => currentStoreKey(await keyring.seen()) };
  const sessions = postgresSessions(signed, rows, async (session, plan) => {
    snapshots.remember(plan.snapshots);
    await index.record(session);
    changed();
  });
  return {
    sessions,
    logs: postgresLogs(parts, rows),
    sessionIndex: index,
    marks: postgresMarks(parts, changed),
    bin: postgresBin(parts, rows, changed),
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
const NAMES = sql('space_names', 'select space_id, name from wr.space order by name');
const SPACES_OF = sql(
  'spaces_of',
  `select distinct on (p.name) p.name, m.role from wr.member m join wr.space p using (space_id)
   where m.principal = any($1) order by p.name, array_position($2::text[], m.role) desc`,
);
const GROUPS = sql(
  'groups_with_role',
  'select distinct principal from wr.member where principal = any($1) order by principal',
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

const END_SESSION = sql(
  'end_session',
  `with past as (delete from wr.ended_session where ends_at < $2)
   insert into wr.ended_session (digest, ends_at) values ($1, $3) on conflict do nothing`,
);
const IS_ENDED = sql('is_ended', 'select 1 from wr.ended_session where digest = $1');

type SpaceRow = { readonly space_id: number; readonly name: string };

/** A database that is reached at a URL. Nothing is connected before it is needed. */
export function teamDatabase(
  url: string,
  sha256: Sha256,
  {
    isConfined = false,
    connectionsMax,
    listenUrl = url,
    onStatement,
  }: {
    readonly isConfined?: boolean;
    readonly connectionsMax?: number | undefined;
    readonly listenUrl?: string | undefined;
    readonly onStatement?: () => void;
  } = {},
): TeamDatabase {
  const database = openDatabase({ url, ...defined({ connectionsMax, onStatement }) });
  const notices = databaseNotices(database, listenUrl);
  const databaseOf = (spaceId: number) => (isConfined ? database.confinedTo(spaceId) : database);

  async function migrated(): Promise<Result<void, SpaceRefusal>> {
    const missing = await pendingMigrations(database);
    if (missing.isErr()) return err(missing.error);
    const { length } = missing.value;
    return length === 0 ? ok(undefined) : err({ code: 'not_migrated', missing: length });
  }

  async function rows<Row extends SpaceRow>(statement: Statement): Promise<Result<readonly Row[], SpaceRefusal>> {
    const ready = await migrated();
    if (ready.isErr()) return err(ready.error);
    const listed = await database.run(statement, []);
    return listed
      .map((found) => found as unknown as readonly Row[])
      .mapErr((failure) => storeFailure(failure, 'list spaces', 'space'));
  }

  async function spaceNamed(name: string): Promise<Result<number, SpaceRefusal>> {
    return (await rows(NAMES)).andThen((found) => {
      const space = found.find((row) => row.name === name);
      const known = found.map((row) => row.name);
      return space === undefined ? err({ code: 'space_unknown' as const, name, known }) : ok(space.space_id);
    });
  }

  return {
    migrate: (how) => migrate(database, how),
    ready: async () => (await rows(NAMES)).map(() => undefined),
    spaces: async () =>
      (await rows<SpaceRow & Space>(SPACES)).map((found) => found.map(({ name, sessions }) => ({ name, sessions }))),
    ...inAllSpaces(database),
    createSpace: async (name) => {
      const ready = await migrated();
      if (ready.isErr()) return err(ready.error);
      const made = await database.run(CREATE, [name]);
      return made.map(({ length }) => length === 1).mapErr((failure) => storeFailure(failure, 'create space', 'space'));
    },
    openSpace: async (name, masterKey, previousKeys = []) =>
      (await spaceNamed(name)).map((spaceId) => {
        const masterKeyOf = () => {
          assert(masterKey !== undefined, 'keys are only touched with a master key');
          return masterKey;
        };
        return postgresStore({
          database: databaseOf(spaceId),
          everySpace: database,
          spaceId,
          sha256,
          masterKey: masterKeyOf,
          previousKeys,
          notices,
        });
      }),
    access: async (name) =>
      (await spaceNamed(name)).map((spaceId) => postgresAccess({ database: databaseOf(spaceId), spaceId, sha256 })),
    unopenedSpaces: (keys) => unopenedSpaces(database, keys),
    endedSessions: endedSessions(database),
    connections: database.connections,
    dangers: async () => {
      const ready = await migrated();
      return ready.isErr() ? err(ready.error) : dangersOf(database);
    },
    close: async () => {
      await notices.close();
      await database.close();
    },
  };
}

/** What is asked about all spaces at once. */
function inAllSpaces(database: Pick<Database, 'run'>): Pick<TeamDatabase, 'spacesOf' | 'groupsWithRole' | 'waiting'> {
  return {
    spacesOf: async ({ principal, groups }) =>
      (await database.run(SPACES_OF, [[principal, ...groups], ROLES]))
        .map((found) => found as unknown as readonly SpaceRole[])
        .mapErr((failure) => storeFailure(failure, 'list spaces', 'space')),
    groupsWithRole: async (groups) =>
      (await database.run(GROUPS, [groups]))
        .map((found) => found.map((row) => row['principal'] as string))
        .mapErr((failure) => storeFailure(failure, 'list groups', 'space')),
    waiting: async () =>
      (await database.run(WAITING, []))
        .map(([row]) => ({ runs: row?.['runs'] as number, since: (row?.['since'] as number | null) ?? undefined }))
        .mapErr((failure) => storeFailure(failure, 'count what waits', 'summary')),
  };
}

async function dangersOf(database: Pick<Database, 'run'>): ReturnType<TeamDatabase['dangers']> {
  const found = await database.run(DANGERS, []);
  return found
    .map(([row = {}]) => DANGER_COLUMNS.filter((danger) => row[danger] === true))
    .mapErr((failure) => storeFailure(failure, 'read settings', 'database'));
}

function endedSessions(database: Pick<Database, 'run'>): EndedSessions {
  return {
    end: async (digest, { now, endsAt }) =>
      (await database.run(END_SESSION, [digestBytes(digest), now, endsAt]))
        .map(() => undefined)
        .mapErr((failure) => storeFailure(failure, 'end browser session', 'ended_session')),
    has: async (digest) =>
      (await database.run(IS_ENDED, [digestBytes(digest)]))
        .map(({ length }) => length > 0)
        .mapErr((failure) => storeFailure(failure, 'read browser session', 'ended_session')),
  };
}
