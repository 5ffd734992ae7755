import { err, ok, type Result } from 'neverthrow';
import type { StoreFeed } from '../../app/ports/console.ts';
import type { SessionIndex } from '../../app/ports/session-index.ts';
import type { LoadRefusal } from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { isFinished } from '../../core/resume/rank-runs.ts';
import { healthySummaries, type SessionRow, type StoredSession, sessionRow } from '../../core/sessions/board-rows.ts';
import type { SessionMarks } from '../../core/sessions/session-state.ts';
import type { SessionSummary } from '../../core/sessions/session-summary.ts';
import { type SummedContent, summariseSession } from '../file-store/index/entry-makers.ts';
import { INDEX_VERSION, type SummaryFields, summaryFields, summaryOf } from '../file-store/index/index-lines.ts';
import type { OpenSession } from '../file-store/session/refresh-session.ts';
import { type SpaceParts, type Statement, sql, storeFailure } from './database.ts';
import { type MarkRow, marksOf, type SessionRows } from './session-rows.ts';

const IS_CURRENT = `i.space_id = s.space_id and i.session_id = s.session_id
     and i.manifest_index = s.next_manifest_index - 1 and s.salvage is null`;
/** Few runs are closed, so they are gathered once and not for each session. */
const listing = (summaries: string, condition = '') => `with closed as (
     select session_id, json_object_agg(run_id, closed_at) as runs from wr.closed_run where space_id = $1 group by session_id)
   select s.session_id, s.kept, s.origin, coalesce(c.runs, '{}'::json) as closed, i.summary
   from wr.session s
   left join closed c on c.session_id = s.session_id
   left join ${summaries}
   where s.space_id = $1 and s.binned_at is null and s.next_event_index > 0 ${condition} order by s.session_id`;
const ALL = sql('all_sessions', listing(`wr.summary i on ${IS_CURRENT}`));
/** A session whose summary is missing or older than its last append is one of these. */
const OPEN = sql(
  'open_sessions',
  // Few sessions are open. `offset 0` makes the planner look up their summaries one by one; it would rather read all.
  listing(`lateral (select summary from wr.summary i where ${IS_CURRENT} offset 0) i on true`, 'and s.is_open'),
);
/** Sessions of before this was recorded count as open until somebody has seen that they are not. */
const NOT_OPEN = sql(
  'not_open',
  `update wr.session s set is_open = false from wr.summary i
   where s.space_id = $1 and s.session_id = any($2) and i.space_id = s.space_id and i.session_id = s.session_id
     and i.manifest_index = s.next_manifest_index - 1`,
);
/** Of two processes that summarise the same session, the one that saw more wins, and then the one of the newer release. */
const RECORD = sql(
  'record_summary',
  `with finished as (
     update wr.session set is_open = false
     where $5 and space_id = $1 and session_id = $2 and next_manifest_index = $3::bigint + 1 and is_open)
   insert into wr.summary as i (space_id, session_id, manifest_index, summary, waiting)
   select space_id, session_id, $3, $4::json, $6::jsonb from wr.session where space_id = $1 and session_id = $2
   on conflict (space_id, session_id) do update
     set manifest_index = excluded.manifest_index, summary = excluded.summary, waiting = excluded.waiting
     where i.manifest_index < excluded.manifest_index
       or (i.manifest_index = excluded.manifest_index and (i.summary->>'v')::int < (excluded.summary->>'v')::int)`,
);

/** A summary of another version is made again. */
type StoredSummary = { readonly v: string; readonly fields: SummaryFields };
type IndexRow = MarkRow & {
  readonly session_id: SessionId;
  readonly summary: StoredSummary | null;
};

export type PostgresIndex = SessionIndex & { record(session: OpenSession): Promise<void> };

/** Summaries are rows beside the sessions. One that is missing or older than its session is made when it is asked for. */
export function postgresIndex(parts: SpaceParts, rows: SessionRows, content: SummedContent): PostgresIndex {
  const { database, spaceId } = parts;

  async function record({ sessionId, view, position }: OpenSession): Promise<void> {
    const summary = await summariseSession({ sessionId, view }, content);
    // It is derived: the next list of sessions makes it again.
    if (summary.isErr()) return;
    const text = JSON.stringify({ v: INDEX_VERSION, fields: summaryFields(summary.value) } satisfies StoredSummary);
    const at = position.nextManifestIndex - 1;
    const runs = summary.value.runs.filter(({ waitsForPerson }) => waitsForPerson).map(({ runId }) => runId);
    const waiting = runs.length === 0 ? null : JSON.stringify({ at, runs });
    await database.run(RECORD, [spaceId, sessionId, at, text, isDone(summary.value), waiting]);
  }

  async function see(sessionId: SessionId, marks: SessionMarks): Promise<Result<StoredSession, LoadRefusal>> {
    const session = await rows.refresh(sessionId);
    if (session.isErr()) return err(session.error);
    const { view, health } = session.value;
    const summary = (await summariseSession({ sessionId, view }, content)).unwrapOr(undefined);
    if (summary !== undefined && health.kind === 'healthy') await record(session.value);
    return ok({ sessionId, summary, health, marks });
  }

  const listed = async (statement: Statement): Promise<Result<readonly SessionRow[], StoreFailure>> => {
    const all = await database.run(statement, [spaceId]);
    if (all.isErr()) return err(storeFailure(all.error, 'list sessions', 'session'));
    const found: SessionRow[] = [];
    for (const row of all.value as unknown as readonly IndexRow[]) {
      const marks = marksOf(row);
      const stored =
        row.summary?.v === INDEX_VERSION
          ? ok(whole(summaryOf(row.session_id, row.summary.fields), marks))
          : await see(row.session_id, marks);
      // A session that was removed meanwhile is not listed.
      if (stored.isOk()) found.push(sessionRow(stored.value));
    }
    return ok(found);
  };

  return {
    record,
    sessions: () => listed(ALL),
    find: async ({ areFinishedMeant, queryTag }) => {
      // A finished run is meant, too, if its tag is asked for.
      const areAllWanted = areFinishedMeant || queryTag !== undefined;
      const found = await listed(areAllWanted ? ALL : OPEN);
      if (found.isErr() || areAllWanted) return found;
      const done = found.value.filter(({ summary, health }) => health === HEALTHY && summary && isDone(summary));
      if (done.length > 0) await database.run(NOT_OPEN, [spaceId, done.map(({ sessionId }) => sessionId)]);
      return found;
    },
    summarise: (session) => summariseSession(session, content),
    summaries: async () => (await listed(ALL)).map(healthySummaries),
    inspect: ({ sessionId, marks }) => see(sessionId, marks),
  };
}

/** Runs that wait for a person in any space, and the time of the oldest one's last event. Only sessions with one are read. */
export const WAITING = sql(
  'waiting',
  `select count(*)::int as runs, min(s.last_at)::float8 as since
   from wr.summary i
   join wr.session s on s.space_id = i.space_id and s.session_id = i.session_id
     and s.next_manifest_index = i.manifest_index + 1 and s.binned_at is null and s.salvage is null
   cross join lateral jsonb_array_elements_text(i.waiting->'runs') run
   where i.waiting is not null and (i.waiting->>'at')::bigint = i.manifest_index
     and not exists (select 1 from wr.closed_run c
       where c.space_id = i.space_id and c.session_id = i.session_id and c.run_id = run)`,
);

const STAMP = sql(
  'stamp',
  `select concat_ws(' ', count(*), sum(next_manifest_index), count(*) filter (where kept), count(binned_at),
     (select count(*) from wr.closed_run where space_id = $1)) as stamp
   from wr.session where space_id = $1`,
);
/** Whether anything changed is looked at this often where no notices arrive. */
const LOOK_MS = 1_000;
/** A look in this many is made even so: what a server of another release does is not announced. */
const LOOKS_LISTENING = 10;

/** Tells those who watch a space when something in it changed, on whichever replica. */
export function postgresFeed({ database, spaceId, notices }: SpaceParts): StoreFeed {
  const listeners = new Set<() => void>();
  let watching: { readonly stop: () => void } | undefined;
  let last: unknown;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const look = async () => {
    const seen = await database.run(STAMP, [spaceId]);
    // A database that does not answer is asked again.
    const stamp = seen.isOk() ? seen.value[0]?.['stamp'] : last;
    if (last !== undefined && stamp !== last) tell();
    last = stamp;
  };
  const begin = () => {
    let looks = 0;
    const timer = setInterval(() => {
      looks += 1;
      if (notices?.isListening() !== true || looks % LOOKS_LISTENING === 0) void look();
    }, LOOK_MS);
    const stopHearing = notices?.watch(spaceId, tell);
    void look();
    return {
      stop: () => {
        clearInterval(timer);
        stopHearing?.();
        last = undefined;
      },
    };
  };
  return {
    watch: (onChange) => {
      listeners.add(onChange);
      watching ??= begin();
      return () => {
        listeners.delete(onChange);
        if (listeners.size > 0) return;
        watching?.stop();
        watching = undefined;
      };
    },
  };
}

/** Whether none of its runs can be meant by a caller who does not ask for finished ones. */
function isDone({ runs }: SessionSummary): boolean {
  return runs.every(isFinished);
}

const HEALTHY: SessionHealth = { kind: 'healthy' };

function whole(summary: SessionSummary, marks: SessionMarks): StoredSession {
  return { sessionId: summary.sessionId, summary, health: HEALTHY, marks };
}
