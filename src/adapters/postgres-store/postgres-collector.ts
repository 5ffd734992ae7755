import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { Collection, Collector, CollectRefusal, CollectRequest, Stayed } from '../../app/ports/upkeep.ts';
import type { OnProgress } from '../../core/flow.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { type DatabaseFailure, type Rows, type SpaceParts, type Statement, sql, storeFailure } from './database.ts';
import type { SessionRows } from './session-rows.ts';

const SESSIONS = sql(
  'gc_sessions',
  `select s.session_id, s.kept, s.last_at is null as is_timeless, s.binned_at::float8 as binned_at,
     coalesce(s.last_at < $2 and not (s.is_imported and s.arrived_at >= to_timestamp($2 / 1000.0)), false) as is_expired,
     s.chain is not distinct from a.chain and s.next_event_index = a.last_event_index + 1 as is_whole
   from wr.session s
   left join lateral (select a.chain, a.last_event_index from wr.append a
     where a.space_id = s.space_id and a.session_id = s.session_id order by a.first_event_index desc limit 1) a on true
   where s.space_id = $1 and s.next_event_index > 0 order by s.session_id`,
);

/** What a session takes up, and what it alone may refer to. */
const SIZE = `
   select (select count(*)::int from wr.append a where a.space_id = $1 and a.session_id = $2) as rows,
     (select coalesce(sum(octet_length(a.events)), 0)::float8 from wr.append a where a.space_id = $1 and a.session_id = $2) as bytes,
     array(select r.kind from wr.content_ref r where r.space_id = $1 and r.session_id = $2 order by r.kind, r.digest) as kinds,
     array(select r.digest from wr.content_ref r where r.space_id = $1 and r.session_id = $2 order by r.kind, r.digest) as digests`;

const LOOK = sql('gc_look', SIZE);
/** Only if it is still what it was: an append or a mark since then keeps it. A session that is in use is passed over. */
const REMOVE = sql(
  'gc_remove',
  `with gone as (
     select session_id from wr.session
     where space_id = $1 and session_id = $2 and not kept and binned_at is not distinct from $4::bigint
       and (binned_at is not null or last_at < $3) for update skip locked),
   removed as (delete from wr.session s using gone where s.space_id = $1 and s.session_id = gone.session_id returning 1)
   ${SIZE}, (select count(*)::int from removed) as removed`,
);

/** Content of sessions that are gone, unless another session refers to it. */
const UNNAMED = sql(
  'gc_content',
  `delete from wr.content c using unnest($2::smallint[], $3::bytea[]) as n(kind, digest)
   where c.space_id = $1 and c.kind = n.kind and c.digest = n.digest and not exists (select 1 from wr.content_ref r
     where r.space_id = $1 and r.kind = c.kind and r.digest = c.digest)
   returning octet_length(c.bytes)::float8 as bytes`,
);
const ORPHAN = `c.space_id = $1 and c.touched < now() - interval '1 hour' and not exists (
     select 1 from wr.content_ref r where r.space_id = $1 and r.kind = c.kind and r.digest = c.digest)`;
const ORPHANS_SIZE = sql(
  'gc_orphans_size',
  `select count(*)::int as count, coalesce(sum(octet_length(c.bytes)), 0)::float8 as bytes from wr.content c where ${ORPHAN}`,
);
/** What nobody refers to and nobody has touched for an hour, for example the workflow of a start that failed. */
const ORPHANS = sql(
  'gc_orphans',
  `delete from wr.content d using (select c.kind, c.digest from wr.content c where ${ORPHAN} limit 500) as n
   where d.space_id = $1 and d.kind = n.kind and d.digest = n.digest returning octet_length(d.bytes)::float8 as bytes`,
);

const ORPHANS_AT_ONCE = 500;
const STILL_NAMED = '23503';

type SessionFacts = {
  readonly session_id: string;
  readonly kept: boolean;
  readonly is_timeless: boolean;
  readonly binned_at: number | null;
  readonly is_expired: boolean;
  readonly is_whole: boolean;
};

/** Counts what is removed, or would be. */
type Removed = { sessions: SessionId[]; binned: SessionId[]; inUse: SessionId[]; files: number; bytes: number };

export function postgresCollector(parts: SpaceParts, rows: SessionRows): Collector {
  return {
    collect: async (request, onProgress) => {
      const read = await run(parts, SESSIONS, [request.expiredBeforeMs]);
      if (read.isErr()) return err(read.error);
      const all = read.value as unknown as readonly SessionFacts[];
      const damaged = await damagedIn(rows, all, onProgress);
      if (damaged.isErr()) return err(damaged.error);
      if (damaged.value.length > 0) return err(safeMode(damaged.value));
      const removed: Removed = { sessions: [], binned: [], inUse: [], files: 0, bytes: 0 };
      const collection = () => collectionOf(request, all, removed);
      for (const facts of all.filter((one) => isDue(one, request))) {
        const done = await removeOne(parts, { facts, request }, removed);
        rows.forget(nameOf(facts.session_id));
        if (done.isErr()) return err({ ...done.error, done: collection() });
      }
      const swept = await sweepOrphans(parts, request, removed);
      return swept.isErr() ? err({ ...swept.error, done: collection() }) : ok(collection());
    },
  };
}

async function run(
  { database, spaceId }: SpaceParts,
  statement: Statement,
  values: readonly unknown[],
): Promise<Result<Rows, StoreFailure>> {
  const done = await database.run(statement, [spaceId, ...values]);
  return done.mapErr((failure) => storeFailure(failure, 'collect', 'session'));
}

/** A session that cannot be read whole may refer to more than is known of it. */
async function damagedIn(
  rows: SessionRows,
  all: readonly SessionFacts[],
  onProgress: OnProgress | undefined,
): Promise<Result<readonly string[], StoreFailure>> {
  const damaged: string[] = [];
  for (const [at, { session_id, binned_at, is_whole }] of all.entries()) {
    onProgress?.({ done: at, total: all.length });
    const sessionId = session_id as SessionId;
    const wasKnown = rows.known(sessionId) !== undefined;
    const read = is_whole && binned_at === null ? await rows.refresh(sessionId) : undefined;
    // Every session is read once; none of them is needed again here.
    if (!wasKnown) rows.forget(sessionId);
    if (read?.isErr() === true && read.error.code !== 'session_not_found') return err(read.error);
    const session = read?.unwrapOr(undefined);
    const isSound = session === undefined || session.health.kind === 'healthy' || session.salvage !== undefined;
    if (!is_whole || !isSound) damaged.push(session_id);
  }
  onProgress?.({ done: all.length, total: all.length });
  return ok(damaged);
}

async function removeOne(
  parts: SpaceParts,
  { facts, request }: { readonly facts: SessionFacts; readonly request: CollectRequest },
  removed: Removed,
): Promise<Result<unknown, StoreFailure>> {
  const { session_id, binned_at } = facts;
  const done = request.isDryRun
    ? await run(parts, LOOK, [session_id])
    : await run(parts, REMOVE, [session_id, request.expiredBeforeMs, binned_at]);
  if (done.isErr()) return err(done.error);
  const [row] = done.value as unknown as readonly RemovedRow[];
  const sessionId = nameOf(session_id);
  if (row === undefined || row.removed === 0) {
    removed.inUse.push(sessionId);
    return ok(undefined);
  }
  (binned_at === null ? removed.sessions : removed.binned).push(sessionId);
  removed.files += row.rows;
  removed.bytes += row.bytes;
  if (request.isDryRun) return ok(undefined);
  return sweep(() => parts.database.run(UNNAMED, [parts.spaceId, row.kinds, row.digests]), removed);
}

async function sweep(
  remove: () => Promise<Result<Rows, DatabaseFailure>>,
  removed: Removed,
): Promise<Result<'more' | undefined, StoreFailure>> {
  const swept = await remove();
  // A session that was just appended to refers to it.
  if (swept.isErr() && swept.error.sqlState === STILL_NAMED) return ok(undefined);
  if (swept.isErr()) return err(storeFailure(swept.error, 'collect', 'content'));
  removed.files += swept.value.length;
  removed.bytes += swept.value.reduce((sum, { bytes }) => sum + (bytes as number), 0);
  return ok(swept.value.length === ORPHANS_AT_ONCE ? 'more' : undefined);
}

async function sweepOrphans(
  parts: SpaceParts,
  { isDryRun }: CollectRequest,
  removed: Removed,
): Promise<Result<void, StoreFailure>> {
  if (isDryRun) {
    const found = await run(parts, ORPHANS_SIZE, []);
    if (found.isErr()) return err(found.error);
    removed.files += found.value[0]?.['count'] as number;
    removed.bytes += found.value[0]?.['bytes'] as number;
    return ok(undefined);
  }
  for (;;) {
    const swept = await sweep(() => parts.database.run(ORPHANS, [parts.spaceId]), removed);
    if (swept.isErr()) return err(swept.error);
    if (swept.value !== 'more') return ok(undefined);
  }
}

type RemovedRow = {
  readonly rows: number;
  readonly bytes: number;
  readonly kinds: readonly number[];
  readonly digests: readonly Buffer[];
  /** Absent if nothing was to be removed. */
  readonly removed?: number;
};

/** A deleted session has more than its id as its name. */
function nameOf(sessionId: string): SessionId {
  return sessionId.split('~')[0] as SessionId;
}

function isDue({ binned_at, is_expired, kept }: SessionFacts, { binnedBeforeMs }: CollectRequest): boolean {
  return binned_at === null ? is_expired && !kept : binned_at < binnedBeforeMs;
}

function safeMode(damaged: readonly string[]): CollectRefusal {
  const isBinned = (sessionId: string) => sessionId.includes('~');
  return {
    code: 'safe_mode',
    sessions: damaged.filter((id) => !isBinned(id)).map(nameOf),
    binned: damaged.filter(isBinned).map(nameOf),
  };
}

function collectionOf(request: CollectRequest, all: readonly SessionFacts[], removed: Removed): Collection {
  const there = all.filter(({ binned_at }) => binned_at === null);
  const names = (some: readonly SessionFacts[]) => some.map(({ session_id }) => nameOf(session_id));
  const stayed: Stayed = {
    recent: there.filter(({ is_expired, is_timeless }) => !is_expired && !is_timeless).length,
    kept: names(there.filter(({ is_expired, kept }) => is_expired && kept)),
    inUse: removed.inUse,
    timeless: names(there.filter(({ is_timeless }) => is_timeless)),
    inBin: all.filter((one) => one.binned_at !== null && !isDue(one, request)).length,
  };
  const { sessions, binned, files, bytes } = removed;
  return { kind: request.isDryRun ? 'would_collect' : 'collected', sessions, binned, files, bytes, stayed };
}
