import { err, ok, type Result } from 'neverthrow';
import type { MarkStore } from '../../app/ports/session-marks.ts';
import type { LoadRefusal } from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { BinnedSession, SessionBin } from '../../app/ports/upkeep.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { SessionMarks } from '../../core/sessions/session-state.ts';
import { LOCK_NOT_AVAILABLE, type SpaceParts, sql, storeFailure, UNIQUE_VIOLATION } from './database.ts';
import { MARK_COLUMNS, type MarkRow, marksOf, marksSeen, type SessionRows } from './session-rows.ts';

const READ = sql(
  'read_marks',
  `select ${MARK_COLUMNS} from wr.session s where s.space_id = $1 and s.session_id = $2 and s.binned_at is null`,
);
const KEEP = sql(
  'set_kept',
  `update wr.session set kept = $3 where space_id = $1 and session_id = $2 and binned_at is null and next_event_index > 0
   returning 1`,
);
const CLOSE = sql(
  'close_run',
  `insert into wr.closed_run (space_id, session_id, run_id, closed_at)
   select space_id, session_id, $3, $4 from wr.session
     where space_id = $1 and session_id = $2 and binned_at is null and next_event_index > 0
   on conflict (space_id, session_id, run_id) do update set closed_at = excluded.closed_at returning 1`,
);
const REOPEN = sql(
  'reopen_run',
  `with there as (select 1 from wr.session where space_id = $1 and session_id = $2 and binned_at is null and next_event_index > 0),
     gone as (delete from wr.closed_run where space_id = $1 and session_id = $2 and run_id = $3)
   select 1 from there`,
);

const NO_MARK_ROW: MarkRow = { kept: false, origin: null, closed: {} };

export function postgresMarks({ database, spaceId }: SpaceParts, onChange: () => void): MarkStore {
  const read = async (sessionId: SessionId): Promise<Result<SessionMarks, StoreFailure>> => {
    const found = await database.run(READ, [spaceId, sessionId]);
    if (found.isErr()) return err(storeFailure(found.error, 'read marks', sessionId));
    return ok(marksOf((found.value[0] as MarkRow | undefined) ?? NO_MARK_ROW));
  };
  const set = async (
    statement: typeof KEEP,
    sessionId: SessionId,
    values: readonly unknown[],
  ): Promise<Result<void, LoadRefusal>> => {
    const done = await database.run(statement, [spaceId, sessionId, ...values]);
    if (done.isErr()) return err(storeFailure(done.error, 'mark session', sessionId));
    onChange();
    return done.value.length === 1 ? ok(undefined) : err({ code: 'session_not_found', sessionId });
  };
  return {
    of: read,
    seenWith: (session) => marksSeen.get(session),
    closed: async (sessionId) => (await read(sessionId)).map(({ closed }) => closed),
    origin: async (sessionId) =>
      (await read(sessionId)).map(({ origin }) => origin).unwrapOr({ kind: 'unreadable' } as const),
    setKept: (sessionId, isKept) => set(KEEP, sessionId, [isKept]),
    setClosed: (sessionId, runId, closedAt) =>
      closedAt === undefined ? set(REOPEN, sessionId, [runId]) : set(CLOSE, sessionId, [runId, closedAt]),
  };
}

/** A deleted session keeps its rows under another name, so that its id is free for a new one. */
const DELETE = sql(
  'bin_put',
  `update wr.session set session_id = session_id || '~' || $3::bigint || '~' || gen_random_uuid(), binned_at = $3
   where space_id = $1 and session_id = $2 and binned_at is null returning 1`,
);
const RESTORE = sql(
  'bin_restore',
  `update wr.session set session_id = $2, binned_at = null, arrived_at = now()
   where space_id = $1 and session_id = (
     select session_id from wr.session where space_id = $1 and binned_at is not null and split_part(session_id, '~', 1) = $2
     order by binned_at desc, session_id desc limit 1)
   returning 1`,
);
const BINNED = sql(
  'bin_list',
  `select split_part(session_id, '~', 1) as session_id, binned_at::float8 as binned_at
   from wr.session where space_id = $1 and binned_at is not null order by binned_at, session_id`,
);

export function postgresBin(
  { database, spaceId }: SpaceParts,
  rows: Pick<SessionRows, 'forget'>,
  onChange: () => void,
): SessionBin {
  return {
    put: async (sessionId, nowMs) => {
      const done = await database.run(DELETE, [spaceId, sessionId, nowMs]);
      rows.forget(sessionId);
      if (done.isErr()) {
        if (done.error.sqlState === LOCK_NOT_AVAILABLE)
          return err({ code: 'session_locked', sessionId, holder: undefined });
        return err(storeFailure(done.error, 'delete session', sessionId));
      }
      onChange();
      return done.value.length === 1 ? ok(undefined) : err({ code: 'session_not_found', sessionId });
    },
    restore: async (sessionId) => {
      const done = await database.run(RESTORE, [spaceId, sessionId]);
      rows.forget(sessionId);
      if (done.isErr()) {
        if (done.error.sqlState === UNIQUE_VIOLATION) return err({ code: 'session_exists', sessionId });
        return err(storeFailure(done.error, 'restore session', sessionId));
      }
      onChange();
      return done.value.length === 1 ? ok(undefined) : err({ code: 'not_in_bin', sessionId });
    },
    list: async () => {
      const listed = await database.run(BINNED, [spaceId]);
      if (listed.isErr()) return err(storeFailure(listed.error, 'list deleted sessions', 'session'));
      return ok(
        listed.value.map(
          (row): BinnedSession => ({
            sessionId: row['session_id'] as SessionId,
            deletedAtMs: row['binned_at'] as number,
          }),
        ),
      );
    },
  };
}
