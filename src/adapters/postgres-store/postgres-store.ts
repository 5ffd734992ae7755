import { err, ok, type Result } from 'neverthrow';
import type { MarkStore } from '../../app/ports/session-marks.ts';
import type { Store } from '../../app/ports/store.ts';
import type { SpaceRefusal, TeamDatabase } from '../../app/ports/team-database.ts';
import type { SessionBin } from '../../app/ports/upkeep.ts';
import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { openDatabase, type SpaceParts, sql, storeFailure } from './database.ts';
import { migrate, pendingMigrations } from './migrations.ts';
import { postgresArtifacts, postgresSnapshots, postgresWorkflows } from './postgres-content.ts';
import { postgresIndex } from './postgres-index.ts';
import { postgresKeyring } from './postgres-keyring.ts';
import { postgresBin, postgresMarks } from './postgres-marks.ts';
import { postgresLogs, postgresSessions } from './postgres-sessions.ts';
import { sessionRows } from './session-rows.ts';

type PostgresStore = Store & { readonly marks: MarkStore; readonly bin: SessionBin };

/** Everything durable of one space, in a PostgreSQL database. */
export function postgresStore(parts: SpaceParts): PostgresStore {
  const rows = sessionRows(parts);
  const pinnedWorkflows = postgresWorkflows(parts);
  const snapshots = postgresSnapshots(parts, pinnedWorkflows);
  const index = postgresIndex(parts, rows, { snapshots, pinnedWorkflows });
  const sessions = postgresSessions(parts, rows, async (session, plan) => {
    snapshots.remember(plan.snapshots);
    await index.record(session);
  });
  return {
    sessions,
    logs: postgresLogs(parts, rows),
    sessionIndex: index,
    marks: postgresMarks(parts),
    bin: postgresBin(parts, rows),
    snapshots,
    artifacts: postgresArtifacts(parts),
    pinnedWorkflows,
    keyring: postgresKeyring(parts),
  };
}

const SPACES = sql(
  'spaces',
  `select p.space_id, p.name, count(s.session_id)::int as sessions
   from wr.space p left join wr.session s on s.space_id = p.space_id and s.binned_at is null and s.next_event_index > 0
   group by p.space_id order by p.name`,
);
const CREATE = sql('create_space', 'insert into wr.space (name) values ($1) on conflict (name) do nothing returning 1');

type SpaceRow = { readonly space_id: number; readonly name: string; readonly sessions: number };

/** A database that is reached at a URL. Nothing is connected before it is needed. */
export function teamDatabase(url: string, sha256: Sha256): TeamDatabase {
  const database = openDatabase({ url });

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
      (await rows()).andThen((found) => {
        const space = found.find((row) => row.name === name);
        const known = found.map((row) => row.name);
        if (space === undefined) return err({ code: 'space_unknown' as const, name, known });
        const masterKeyOf = () => {
          assert(masterKey !== undefined, 'keys are only touched with a master key');
          return masterKey;
        };
        return ok(postgresStore({ database, spaceId: space.space_id, sha256, masterKey: masterKeyOf }));
      }),
    close: database.close,
  };
}
